/** What every route file of this face gets, and how it registers its routes. */
import type { Context } from 'hono';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Engine } from '../../engine/index.js';
import { isTerminal, type OperationRecord } from '../../operations/record.js';
import type { Settings } from '../../platform/config.js';
import type { Logger } from '../../platform/log.js';
import { RETRY_AFTER_SECONDS, SERVER_STOPPING, type Shutdown } from '../lifecycle/shutdown.js';
import type { Rates } from './rates.js';
import { retryAfterSeconds } from './render.js';

export interface JobsOptions {
  engine: Engine;
  settings: Settings;
  /** The key that all servers of a home share. */
  secret: Buffer;
  logger: Logger;
  /** Who makes a request. */
  principalOf: (c: Context) => string;
  /** The shutdown of the process. */
  shutdown: Shutdown;
  /** What operations of an MCP session are listed under, plain ones first; undefined for an ID that isn't one. */
  mcpSessionOf: (id: string, principal: string) => string[] | undefined;
}

export interface JobsContext extends JobsOptions {
  app: OpenAPIHono;
  rates: Rates;
}

/** A route file exports one of these, and index.ts calls it. */
export type RegisterRoutes = (context: JobsContext) => void;

/** Says that the shutdown has ended an answer's wait before its time. */
export const WAIT_ENDED_HEADER = 'Longhaul-Wait-Ended';

/** For the OpenAPI document. */
export const WAIT_ENDED_HEADERS = {
  [WAIT_ENDED_HEADER]: {
    description: `${SERVER_STOPPING}: the server is stopping, which has ended the wait and nothing else. Ask again after Retry-After.`,
    schema: { type: 'string' as const },
  },
};

/** Headers of an answer after a wait, over the job's own: none unless the shutdown has ended the wait of an open job. */
export function waitHeaders({ shutdown }: JobsContext, record: OperationRecord): Record<string, string> {
  if (!shutdown.hasBegun || isTerminal(record.status)) return {};
  const seconds = Math.max(RETRY_AFTER_SECONDS, retryAfterSeconds(record));
  return { [WAIT_ENDED_HEADER]: SERVER_STOPPING, 'Retry-After': String(seconds) };
}

/** Ends when the client has gone or the server stops: waits and streams end then. */
export function signalOf({ shutdown }: JobsContext, c: Context): AbortSignal {
  return AbortSignal.any([shutdown.signal, c.req.raw.signal]);
}
