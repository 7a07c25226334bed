/** OpenTelemetry spans of this process. Its SDK is loaded only if its standard variables name a collector. */
import { createHash } from 'node:crypto';
import type { Logger } from '../log.js';
import type { Tracing } from './types.js';

export type { Span, SpanAttributes, SpanOptions, Tracing } from './types.js';

/** OpenTelemetry's standard variables that decide whether there are traces. Its SDK reads the others. */
const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'] as const;
const PROTOCOL = 'http/protobuf';

type Environment = Readonly<Record<string, string | undefined>>;

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

/** Whether the environment names a collector, or asks for its default address, and doesn't switch traces off. */
export function wantsTraces(environment: Environment): boolean {
  if (valueOf(environment, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return false;
  const exporter = valueOf(environment, 'OTEL_TRACES_EXPORTER');
  if (exporter !== undefined) return exporter !== 'none';
  return ENDPOINTS.some((name) => valueOf(environment, name) !== undefined);
}

/** Why spans can't be sent with this environment; undefined if they can. */
export function tracesEndpointProblem(environment: Environment): string | undefined {
  const exporter = valueOf(environment, 'OTEL_TRACES_EXPORTER') ?? 'otlp';
  if (exporter !== 'otlp') return `OTEL_TRACES_EXPORTER: expected otlp or none; got ${exporter}`;
  const protocolName = PROTOCOLS.find((name) => valueOf(environment, name) !== undefined);
  const protocol = protocolName && valueOf(environment, protocolName);
  if (protocol !== undefined && protocol !== PROTOCOL)
    return `${protocolName}: expected ${PROTOCOL}; got ${protocol}`;
  const endpointName = ENDPOINTS.find((name) => valueOf(environment, name) !== undefined);
  if (endpointName === undefined) return undefined;
  const endpoint = valueOf(environment, endpointName)!;
  const isHttp = /^https?:$/.test(URL.canParse(endpoint) ? new URL(endpoint).protocol : '');
  // An address may contain a password.
  return isHttp ? undefined : `${endpointName}: expected a URL with http or https`;
}

/** Empty means unset, as in OpenTelemetry. */
function valueOf(environment: Environment, name: string): string | undefined {
  return environment[name]?.trim() || undefined;
}
