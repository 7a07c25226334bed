/** A collector: an HTTP server that takes spans over OTLP (http/protobuf), as OpenTelemetry's own does. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import protobuf from 'protobufjs';

/** The messages of OTLP's trace service, with the fields that tests read. */
const MESSAGES = `
syntax = "proto3";
message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { repeated Span spans = 2; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4;
  string name = 5; int32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
  repeated KeyValue attributes = 9; repeated Link links = 13; Status status = 15;
}
message Link { bytes trace_id = 1; bytes span_id = 2; }
message Status { string message = 2; int32 code = 3; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
`;
const Request = protobuf.parse(MESSAGES).root.lookupType('ExportTraceServiceRequest');

const KINDS = ['', 'internal', 'server', 'client', 'producer', 'consumer'];
const ERROR = 2;

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  tracestate: string;
  name: string;
  kind: string;
  startMs: number;
  endMs: number;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  isError: boolean;
  message: string;
  resource: Record<string, unknown>;
}

export class Collector {
  readonly spans: ReceivedSpan[] = [];
  /** Bodies as they came. */
  readonly bodies: Buffer[] = [];
  /** Whether requests are taken and not answered. */
  isHanging = false;
  requests = 0;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Collector> {
    const server = createServer();
    const collector = new Collector(server);
    server.on('request', (request, response) => {
      collector.requests += 1;
      if (collector.isHanging) return;
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks);
        const isZipped = request.headers['content-encoding'] === 'gzip';
        if (request.url === '/v1/traces') collector.#take(isZipped ? gunzipSync(body) : body);
        response.writeHead(request.url === '/v1/traces' ? 200 : 404, {
          'content-type': 'application/x-protobuf',
        });
        response.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  trace(traceId: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  #take(body: Buffer): void {
    this.bodies.push(body);
    const { resourceSpans } = Request.toObject(Request.decode(body), { longs: Number, arrays: true }) as any;
    for (const { resource, scopeSpans } of resourceSpans)
      for (const { spans } of scopeSpans)
        for (const span of spans) this.spans.push(received(span, valuesOf(resource?.attributes ?? [])));
  }
}

function received(span: any, resource: Record<string, unknown>): ReceivedSpan {
  const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('hex');
  return {
    traceId: hex(span.traceId),
    spanId: hex(span.spanId),
    parentSpanId: hex(span.parentSpanId),
    tracestate: span.traceState ?? '',
    name: span.name,
    kind: KINDS[span.kind] ?? '',
    startMs: span.startTimeUnixNano / 1e6,
    endMs: span.endTimeUnixNano / 1e6,
    attributes: valuesOf(span.attributes),
    links: span.links.map((link: any) => ({ traceId: hex(link.traceId), spanId: hex(link.spanId) })),
    isError: span.status?.code === ERROR,
    message: span.status?.message ?? '',
    resource,
  };
}

function valuesOf(attributes: { key: string; value?: object }[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value ?? {})[0]]));
}
