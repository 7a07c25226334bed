/** Context shared by the jobs API's route files. */
import type { Context, MiddlewareHandler } from 'hono';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Engine } from '../../engine/index.js';
import { isTerminal, type OperationRecord } from '../../operations/record.js';
import type { Settings } from '../../platform/settings/index.js';
import type { Logger } from '../../platform/observe/log.js';
import { withBudget } from '../call/budget.js';
import type { Guard } from '../guard.js';
import { RETRY_AFTER_SECONDS, SERVER_STOPPING, type Shutdown } from '../shutdown/index.js';
import type { Limits } from '../limits/index.js';
import { retryAfterSeconds } from './rendering/render.js';
import { header } from './rendering/schemas.js';

export interface JobsOptions {
  /** For what belongs to no caller. */
  engine: Engine;
  engineOf: (c: Context) => Guard;
  settings: Settings;
  /** The key that all servers of a home share. */
  secret: Buffer;
  logger: Logger;
  authenticate: MiddlewareHandler;
  /** The process's limits. `engineOf` doesn't count kickoffs, since the routes do. */
  limits: Limits;
  shutdown: Shutdown;
  /** Scopes of an MCP session's operations, plain ones first. Undefined for an unknown session ID. */
  mcpSessionOf: (id: string, principal: string) => string[] | undefined;
}

export interface JobsContext extends JobsOptions {
  app: OpenAPIHono;
  /** Path of each route: in Hono's form -> as in OpenAPI. */
  paths: Map<string, string>;
}

type WatchOptions = Omit<NonNullable<Parameters<Guard['watch']>[1]>, 'signal'>;

export type RegisterRoutes = (context: JobsContext) => void;

/** Response header: the shutdown ended the wait early. */
export const WAIT_ENDED_HEADER = 'Longhaul-Wait-Ended';

export const WAIT_ENDED_HEADERS = {
  [WAIT_ENDED_HEADER]: header(
    `${SERVER_STOPPING}: the server is stopping and has ended the wait; the job continues. Repeat the request after Retry-After.`,
  ),
};

/** Headers to add after a wait. Empty unless the shutdown ended the wait for an open job. */
export function waitHeaders({ shutdown }: JobsContext, record: OperationRecord): Record<string, string> {
  if (!shutdown.hasBegun || isTerminal(record.status)) return {};
  const seconds = Math.max(RETRY_AFTER_SECONDS, retryAfterSeconds(record));
  return { [WAIT_ENDED_HEADER]: SERVER_STOPPING, 'Retry-After': String(seconds) };
}

/** Watches a job until its state is the wanted one or the time is up. @returns the last state read, or undefined if none was */
export function watchUntil(
  context: JobsContext,
  c: Context,
  token: string,
  {
    seconds,
    isWanted,
    ...options
  }: WatchOptions & { seconds: number; isWanted: (record: OperationRecord) => boolean },
): Promise<OperationRecord | undefined> {
  return withBudget(seconds, signalOf(context, c), async (signal) => {
    let record: OperationRecord | undefined;
    for await (record of context.engineOf(c).watch(token, { ...options, signal }))
      if (isWanted(record)) break;
    return record;
  });
}

/** Whether a wait for a job is over: it has ended, or asks a question. */
export function isEndOrQuestion({ status }: OperationRecord): boolean {
  return isTerminal(status) || status === 'input_required';
}

/** Aborts when the client disconnects or the server stops. */
export function signalOf({ shutdown }: JobsContext, c: Context): AbortSignal {
  return AbortSignal.any([shutdown.signal, c.req.raw.signal]);
}
