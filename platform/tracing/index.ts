/** OpenTelemetry spans of this process. Its SDK is loaded only if its standard variables name a collector. */
import { createHash } from 'node:crypto';
import type { Logger } from '../log.js';
import type { Tracing } from './types.js';
import { tracesEndpointProblem, wantsTraces } from './settings.js';

export type { Span, SpanAttributes, SpanOptions, Tracing } from './types.js';

let current: Tracing | undefined;
let users = 0;

/** Undefined while traces are off. */
export function tracing(): Tracing | undefined {
  return current;
}

/** Starts the export of spans if the environment asks for it. Only logs problems. @returns ends it, after the last span */
export async function startTracing(part: string, logger: Logger): Promise<() => Promise<void>> {
  if (!wantsTraces(process.env)) return () => Promise.resolve();
  const problem = tracesEndpointProblem(process.env);
  if (problem !== undefined) {
    logger.warn(`traces are off: ${problem}`);
    return () => Promise.resolve();
  }
  if (!current) {
    const { createTracing } = await import('./sdk.js');
    // Another caller may have been faster.
    current ??= createTracing(part, logger);
  }
  users += 1;
  return async () => {
    users -= 1;
    if (users > 0) return;
    const ended = current;
    current = undefined;
    await ended?.close();
  };
}

/** ID of a span that several processes must know before it ends. The same parts give the same ID. */
export function spanIdOf(...parts: (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}
