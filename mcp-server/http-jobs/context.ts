/** Context shared by the jobs API's route files. */
import type { Context, MiddlewareHandler } from 'hono';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Engine } from '../../engine/index.js';
import { isTerminal, type OperationRecord } from '../../operations/record.js';
import type { Settings } from '../../platform/settings/index.js';
import type { Logger } from '../../platform/observe/log.js';
import type { Guard } from '../guard.js';
import { RETRY_AFTER_SECONDS, SERVER_STOPPING, type Shutdown } from '../shutdown/index.js';
import type { Limits } from '../limits/index.js';
import type { Rates } from './rates.js';
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
  rates: Rates;
}

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

/** Aborts when the client disconnects or the server stops. */
export function signalOf({ shutdown }: JobsContext, c: Context): AbortSignal {
  return AbortSignal.any([shutdown.signal, c.req.raw.signal]);
}
