/** A real server with its own database, for one test; it ends with it. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The program under test. */
function binary(): string {
  const path = process.env.CODER_TEST_BINARY;
  if (!path) throw new Error("CODER_TEST_BINARY must name the coder binary; './dev test' sets it");
  return path;
}

async function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

export class Server {
  private process: ChildProcess | undefined;

  private constructor(
    readonly url: string,
    private readonly directory: string,
  ) {}

  static async start(): Promise<Server> {
    const directory = await mkdtemp(join(tmpdir(), "coder-e2e-"));
    // The built-in PostgreSQL runs as another account when we are root, and must get to its data.
    await chmod(directory, 0o755);
    const server = new Server(`http://127.0.0.1:${await freePort()}`, directory);
    await mkdir(join(directory, "home"));
    await server.launch();
    return server;
  }

  /** Starts the server, on its address and with its data. */
  async launch(): Promise<void> {
    const config = join(this.directory, "server");
    this.process = spawn(binary(), ["server"], {
      env: {
        ...process.env,
        HOME: join(this.directory, "home"),
        CODER_CONFIG_DIR: config,
        CODER_CACHE_DIRECTORY: join(config, "cache"),
        CODER_HTTP_ADDRESS: new URL(this.url).host,
        CODER_ACCESS_URL: this.url,
      },
      stdio: "ignore",
    });
    const until = Date.now() + 90_000;
    while (!(await fetch(`${this.url}/healthz`).catch(() => undefined))?.ok) {
      if (Date.now() > until || this.process.exitCode !== null)
        throw new Error("the server did not become healthy");
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async halt(): Promise<void> {
    const process = this.process;
    this.process = undefined;
    if (!process || process.exitCode !== null) return;
    await new Promise<void>((resolve) => {
      process.once("exit", () => resolve());
      process.kill("SIGTERM");
    });
  }

  async stop(): Promise<void> {
    await this.halt();
    await rm(this.directory, { recursive: true, force: true });
  }

  /** Runs the command line as the user that has signed in with it. */
  async coder(...words: string[]): Promise<string> {
    const { stdout } = await run(binary(), words, {
      cwd: this.directory,
      env: {
        ...process.env,
        HOME: join(this.directory, "home"),
        CODER_CONFIG_DIR: join(this.directory, "cli"),
      },
    });
    return stdout;
  }

  /** Signs in, and pushes the starter template `local`, which needs nothing but this machine. */
  async pushTemplate(email: string, password: string): Promise<void> {
    await this.coder("login", this.url, "--first-user-email", email, "--first-user-password", password).catch(
      async () => {
        const response = await fetch(`${this.url}/api/v2/users/login`, {
          method: "POST",
          body: JSON.stringify({ email, password }),
        });
        const { session_token } = (await response.json()) as { session_token: string };
        await this.coder("login", this.url, "--token", session_token);
      },
    );
    await this.coder("templates", "init", "--id", "local", "local");
    await this.coder("templates", "push", "local", "-d", "local", "--yes");
  }
}

/** The source of a library, to run in pages that load nothing from elsewhere. */
export const source = (path: string) => readFile(path, "utf8");
