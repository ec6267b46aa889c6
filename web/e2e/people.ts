/** People of a test, who ask the API themselves: what a page did must be seen there. */

import type { Browser } from "./browser";

/** Good enough for the server, and the same for all. */
export const PASSWORD = "plain horses eat 7 apples";

const SESSION = "coder_session_token";

export interface Answer<T> {
  status: number;
  body: T;
}

async function ask<T>(url: string, token: string, method: string, path: string, body?: unknown) {
  const response = await fetch(`${url}/api/v2${path}`, {
    method,
    headers: token ? { "Coder-Session-Token": token } : {},
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = response.headers.get("Content-Type")?.includes("json") ?? false;
  return { status: response.status, body: (json && text ? JSON.parse(text) : undefined) as T } as Answer<T>;
}

export class Person {
  private constructor(
    private readonly url: string,
    readonly name: string,
    readonly token: string,
  ) {}

  /** Makes the first user of a server. */
  static async first(url: string, name: string): Promise<Person> {
    await ask(url, "", "POST", "/users/first", {
      email: emailOf(name),
      username: name,
      password: PASSWORD,
    });
    return Person.signIn(url, name);
  }

  static async signIn(url: string, name: string, password = PASSWORD): Promise<Person> {
    const { status, body } = await signIn(url, name, password);
    if (status !== 201) throw new Error(`${name} cannot sign in: ${status}`);
    return new Person(url, name, body.session_token);
  }

  ask<T = unknown>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
    return ask<T>(this.url, this.token, method, path, body);
  }

  /** Makes somebody with these roles for the whole deployment, who has signed in. */
  async invite(name: string, roles: string[]): Promise<Person> {
    const { body: organizations } = await this.ask<{ id: string }[]>("GET", "/organizations");
    await this.ask("POST", "/users", {
      email: emailOf(name),
      username: name,
      password: PASSWORD,
      organization_ids: organizations.map(({ id }) => id),
    });
    if (roles.length > 0) await this.ask("PUT", `/users/${name}/roles`, { roles });
    return Person.signIn(this.url, name);
  }

  /** Lets the browser be this person's. */
  async use(browser: Browser): Promise<void> {
    const context = browser.page.context();
    await context.clearCookies({ name: SESSION });
    await context.addCookies([{ name: SESSION, value: this.token, url: this.url }]);
  }
}

export const emailOf = (name: string) => `${name}@example.org`;

/** What the server says to a name and a password. */
export const signIn = (url: string, name: string, password: string) =>
  ask<{ session_token: string }>(url, "", "POST", "/users/login", { email: emailOf(name), password });
