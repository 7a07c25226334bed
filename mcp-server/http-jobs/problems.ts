/**
 * What can go wrong with a request, as RFC 9457 problem documents: one closed table, from which the answers, the OpenAPI
 * document and the documentation are made.
 */
import { LonghaulError, type ErrorKind } from '../../operations/errors.js';

interface ProblemKind {
  /** HTTP status. */
  status: number;
  /** Would the same request have a chance later? */
  retryable: boolean;
  /** The same for every occurrence (RFC 9457, section 3.1.3). */
  title: string;
  /** What the caller can do about it. */
  advice: string;
}

/** All types of problems. A type's URI reference is `/problems/{name}`. */
export const PROBLEMS = {
  'invalid-json': {
    status: 400,
    retryable: false,
    title: 'The body is not JSON',
    advice: 'Send a JSON object.',
  },
  'invalid-request': {
    status: 400,
    retryable: false,
    title: 'The request does not fit its schema',
    advice: 'Mend the fields that `errors` names; unknown ones are refused.',
  },
  'invalid-arguments': {
    status: 400,
    retryable: false,
    title: "The arguments do not fit the tool's schema",
    advice: 'Nothing was started. Mend the arguments that `detail` names.',
  },
  'invalid-answer': {
    status: 400,
    retryable: false,
    title: 'The answer does not fit the question',
    advice: 'The question is still open. Mend the answer.',
  },
  'invalid-cursor': {
    status: 400,
    retryable: false,
    title: 'The cursor is of no page of this list',
    advice: 'Send a cursor unchanged, with the same filters or none; else begin without one.',
  },
  'invalid-prefer': {
    status: 400,
    retryable: false,
    title: 'The Prefer header can not be read',
    advice: 'Send `respond-async`, `wait=SECONDS`, or both.',
  },
  'invalid-idempotency-key': {
    status: 400,
    retryable: false,
    title: 'The Idempotency-Key can not be used',
    advice: 'Send 1 to 255 visible ASCII characters.',
  },
  'invalid-session': {
    status: 400,
    retryable: false,
    title: 'The session header can not be used',
    advice: 'Longhaul-Session: 1 to 200 visible ASCII characters. Mcp-Session-Id: as the server gave it.',
  },
  'invalid-event-id': {
    status: 400,
    retryable: false,
    title: 'The Last-Event-ID is of no stream of this job',
    advice: "Open the stream without it: it begins with the job's first event.",
  },
  forbidden: {
    status: 403,
    retryable: false,
    title: 'The host or origin is not allowed',
    advice: 'Call the server by a name that its settings allow.',
  },
  'unknown-route': {
    status: 404,
    retryable: false,
    title: 'There is nothing at this address',
    advice: '/openapi.json lists what there is.',
  },
  'unknown-tool': {
    status: 404,
    retryable: false,
    title: 'There is no such tool',
    advice: 'GET /v1/tools lists them.',
  },
  'job-not-found': {
    status: 404,
    retryable: false,
    title: 'There is no such job',
    advice: "It never existed, is no longer kept, or is somebody else's. GET /v1/jobs lists yours.",
  },
  'resource-not-found': {
    status: 404,
    retryable: false,
    title: 'The job has no such result, log or file',
    advice: 'The lists of its steps and files, under its links, name what there is.',
  },
  'method-not-allowed': {
    status: 405,
    retryable: false,
    title: 'The method is not allowed here',
    advice: 'The header Allow names those that are.',
  },
  'wrong-state': {
    status: 409,
    retryable: false,
    title: 'The job is not in a state in which this can be done',
    advice: 'Read its status.',
  },
  'job-expired': {
    status: 410,
    retryable: false,
    title: 'The job has expired',
    advice: 'Its result was kept for as long as published. Start it again if it is still needed.',
  },
  'too-large': {
    status: 413,
    retryable: false,
    title: 'The body or the arguments are too large',
    advice: 'Pass large data by reference.',
  },
  'unsupported-media-type': {
    status: 415,
    retryable: false,
    title: 'The body is of another content type than application/json',
    advice: 'Send Content-Type: application/json.',
  },
  'range-not-satisfiable': {
    status: 416,
    retryable: false,
    title: 'The range can not be served',
    advice: 'Content-Range says how many bytes there are.',
  },
  'idempotency-key-reused': {
    status: 422,
    retryable: false,
    title: 'The Idempotency-Key belongs to another request',
    advice: 'Choose a new key for a new request.',
  },
  'rate-limited': {
    status: 429,
    retryable: true,
    title: 'Too many requests',
    advice: 'Wait for as long as Retry-After says.',
  },
  'headers-too-large': {
    status: 431,
    retryable: false,
    title: 'The address and headers are too large',
    advice: 'Together they may have 16 KiB.',
  },
  internal: {
    status: 500,
    retryable: false,
    title: 'A defect of the server',
    advice: "The server's log has it.",
  },
  'not-supported': {
    status: 501,
    retryable: false,
    title: 'This server can not do that',
    advice: 'Its Temporal lacks what is needed; `detail` says what.',
  },
  'server-stopping': {
    status: 503,
    retryable: true,
    title: 'The server is stopping',
    advice: 'Nothing was done. Send the request again after Retry-After, to this address or another server.',
  },
  unavailable: {
    status: 503,
    retryable: true,
    title: 'Temporal can not be reached just now',
    advice:
      'What runs goes on. Try again after Retry-After; repeat a kickoff with its Idempotency-Key, so that it starts once.',
  },
} as const satisfies Record<string, ProblemKind>;

export type ProblemType = keyof typeof PROBLEMS;

export const PROBLEM_TYPES = Object.keys(PROBLEMS) as [ProblemType, ...ProblemType[]];

/** The URI reference of a type (RFC 9457, section 3.1.1). */
export function problemUri(type: ProblemType): string {
  return `/problems/${type}`;
}

/** One thing that is wrong with a request. */
export interface RequestError {
  /** Where: `body.reason`, `query.limit`. */
  at: string;
  detail: string;
}

export interface ProblemOptions {
  /** What is wrong, one by one. */
  errors?: RequestError[];
  /** Headers of the answer. */
  headers?: Record<string, string>;
  /** Further members of the document. */
  members?: Record<string, unknown>;
  cause?: unknown;
}

/** A request that can't be served. Thrown by routes, rendered in one place. */
export class Problem extends Error {
  override name = 'Problem';

  /** @param message what is wrong this time: where, what was expected, what came */
  constructor(
    readonly type: ProblemType,
    message: string,
    readonly options: ProblemOptions = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
  }
}

/** Translates one kind of the engine's errors into another problem than usual. */
export function asProblem(error: unknown, kind: ErrorKind, type: ProblemType): unknown {
  return error instanceof LonghaulError && error.kind === kind
    ? new Problem(type, error.message, { cause: error })
    : error;
}
