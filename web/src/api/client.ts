/** The one way to the API: every request of the UI passes here. */

import { connection } from "./connection";
import { ApiError } from "./errors";
import type { ErrorBody } from "./types";
import { urls } from "./urls";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

const CSRF_META = 'meta[property="csrf-token"]';

const tokenOf = (page: Document) => page.querySelector(CSRF_META)?.getAttribute("content") ?? "";

/** The page's token, read when it is first needed: what only imports this module need not be in a page. */
let csrfToken: string | undefined;

/** Reads a new token from a new copy of the page, for a page that has outlived its cookie. */
async function renewCsrfToken(): Promise<boolean> {
  const response = await fetch(urls.startPage(), { cache: "no-store" });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const token = tokenOf(page);
  if (!token || token === csrfToken) return false;
  csrfToken = token;
  return true;
}

/** A body that is no JSON says its own type. */
async function send(method: Method, path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (method !== "GET") headers["X-CSRF-TOKEN"] = csrfToken ??= tokenOf(document);
  if (body !== undefined) headers["Content-Type"] = body instanceof Blob ? body.type : "application/json";
  try {
    return await fetch(path, {
      method,
      headers,
      credentials: "same-origin",
      ...(body === undefined ? {} : { body: body instanceof Blob ? body : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    connection.lost();
    throw new ApiError(0, {});
  }
}

/** What came with the answer, unless the connection broke before its end. */
async function textOf(response: Response, signal?: AbortSignal): Promise<string> {
  try {
    return await response.text();
  } catch (cause) {
    if (signal?.aborted) throw cause;
    connection.lost();
    throw new ApiError(0, {});
  }
}

const isType = (response: Response, type: string) =>
  response.headers.get("Content-Type")?.includes(type) === true;

async function failure(response: Response, signal?: AbortSignal): Promise<ApiError> {
  const id = response.headers.get("X-Coder-Request-Id") ?? "";
  const text = await textOf(response, signal);
  // What is refused before it comes to the API has a line of text; the API itself answers with JSON, and nothing of ours
  // with a page, such as a proxy shows of itself.
  if (isType(response, "text/plain")) {
    return new ApiError(response.status, { message: text.trim().slice(0, 500) }, id);
  }
  try {
    return new ApiError(response.status, JSON.parse(text) as ErrorBody, id);
  } catch {
    return new ApiError(response.status, text ? undefined : {}, id);
  }
}

/** The answer of the API, when it is one that was hoped for. */
async function answer(method: Method, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  let response = await send(method, path, body, signal);
  const refusedAsForged = method !== "GET" && response.status === 400 && isType(response, "text/plain");
  if (refusedAsForged && (await renewCsrfToken())) response = await send(method, path, body, signal);
  // A page in place of an answer, for instance the one that a network asks to sign in with.
  if (response.ok && isType(response, "text/html")) throw new ApiError(response.status, undefined);
  if (!response.ok && response.status !== 304) {
    const error = await failure(response, signal);
    if (error.unreachable) connection.lost();
    throw error;
  }
  connection.answered(response.headers.get("X-Coder-Build-Version"));
  return response;
}

/** Asks the API. `T` is the type that the API's description gives for the answer. */
export async function request<T>(
  method: Method,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<T> {
  const response = await answer(method, path, body, signal);
  const text = response.status === 304 ? "" : await textOf(response, signal);
  return (text && isType(response, "json") ? JSON.parse(text) : undefined) as T;
}

/** Gets what is no JSON. */
export async function download(path: string, signal?: AbortSignal): Promise<Uint8Array> {
  return new Uint8Array(await (await answer("GET", path, undefined, signal)).arrayBuffer());
}
