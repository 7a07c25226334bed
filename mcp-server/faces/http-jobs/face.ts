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

/**
 * Runs what waits: its signal fires when the time is over, the client has gone or the server stops. A timer of our own, for
 * AbortSignal.timeout() within AbortSignal.any() may be collected as garbage before it fires (Node 20).
 */
export async function withBudget<T>(
  face: JobsFace,
  c: Context,
  seconds: number,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const budget = new AbortController();
  const timer = setTimeout(() => budget.abort(), seconds * 1000);
  try {
    return await wait(AbortSignal.any([budget.signal, signalOf(face, c)]));
  } finally {
    clearTimeout(timer);
  }
}
