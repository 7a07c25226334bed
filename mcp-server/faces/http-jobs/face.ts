/** What every route file of this face gets, and how it registers its routes. */
import type { Context } from 'hono';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Engine } from '../../../engine/index.js';
import type { Settings } from '../../../platform/config.js';
import type { Logger } from '../../../platform/log.js';
import type { Rates } from './rates.js';

export interface JobsOptions {
  engine: Engine;
  settings: Settings;
  /** The key that all servers of a home share. */
  secret: Buffer;
  logger: Logger;
  /** Who makes a request. */
  principalOf: (c: Context) => string;
  /** What operations of an MCP session are listed under, plain ones first; undefined for an ID that isn't one. */
  mcpSessionOf: (id: string, principal: string) => string[] | undefined;
}

export interface JobsFace extends JobsOptions {
  app: OpenAPIHono;
  rates: Rates;
  /** Fires when the server stops: waits and streams end. */
  closing: AbortSignal;
}

/** A route file exports one of these, and index.ts calls it. */
export type RegisterRoutes = (face: JobsFace) => void;

/** Ends when the client has gone or the server stops. */
export function signalOf({ closing }: JobsFace, c: Context): AbortSignal {
  return AbortSignal.any([closing, c.req.raw.signal]);
}
