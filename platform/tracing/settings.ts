/** OpenTelemetry's standard variables that decide whether there are traces. Its SDK reads the others. */

type Environment = Readonly<Record<string, string | undefined>>;

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'] as const;
const PROTOCOL = 'http/protobuf';

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
