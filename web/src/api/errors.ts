/** A request that failed, as something to show: what the server said, and how to find it in the server's log. */

import type { ErrorBody, ValidationError } from "./types";

export class ApiError extends Error {
  /** The HTTP status; 0 when the server could not be reached. */
  readonly status: number;
  readonly detail: string;
  readonly validations: ValidationError[];
  readonly requestId: string;
  /** It was no answer of our server: a proxy or the network has given one in its place. */
  readonly foreign: boolean;

  /** Without a body the answer was not one that our server gives. */
  constructor(status: number, body: Partial<ErrorBody> | undefined, requestId = "") {
    super(body?.message ?? "");
    this.name = "ApiError";
    this.status = status;
    this.detail = body?.detail ?? "";
    this.validations = body?.validations ?? [];
    this.requestId = requestId;
    this.foreign = body === undefined;
  }

  /** The server was not reached, so nothing is known about the request. */
  get unreachable(): boolean {
    return this.status === 0 || (this.status >= 502 && this.status <= 504);
  }

  /** What the server says about one field. */
  field(name: string): string | undefined {
    return this.validations.find((validation) => validation.field === name)?.detail;
  }
}

export function isStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.status === status;
}
