/** Spans by OpenTelemetry's SDK, sent in batches over OTLP. Loaded only if traces are on. */
import { randomUUID } from 'node:crypto';
import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Span as SdkSpan,
  type SpanContext,
} from '@opentelemetry/api';
import { setGlobalErrorHandler, TraceState } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  type Resource,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, RandomIdGenerator } from '@opentelemetry/sdk-trace-base';
import { defined } from '../../../operations/json/defined.js';
import type { TraceContext } from '../../../operations/wire/trace-context.js';
import type { Logger } from '../log.js';
import { longhaulPackage } from '../../home/package.js';
import { withTimeout } from '../../with-timeout.js';
import type { Span, SpanOptions, Tracing } from './types.js';

/** Time for sending the last spans when the process ends. */
const CLOSE_LIMIT_MS = 2_000;
/** Interval of log lines about an unreachable collector. */
const COMPLAINT_INTERVAL_MS = 60_000;

const KINDS = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT };

/** Gives the next span a chosen ID. Spans are created synchronously. */
class SpanIds extends RandomIdGenerator {
  next: string | undefined;

  constructor() {
    super();
    const random = this.generateSpanId;
    this.generateSpanId = () => {
      const id = this.next ?? random();
      this.next = undefined;
      return id;
    };
  }
}

/** @param part name of the process */
export function createTracing(part: string, logger: Logger): Tracing {
  complainTo(logger);
  const idGenerator = new SpanIds();
  const provider = new BasicTracerProvider({
    idGenerator,
    resource: resourceOf(part),
    // Bounded: spans that a slow collector doesn't take are dropped.
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const tracer = provider.getTracer('longhaul', longhaulPackage().version);
  return {
    startSpan(
      name,
      { kind = 'internal', parent, spanId, links = [], attributes = {}, startMs }: SpanOptions = {},
    ) {
      idGenerator.next = spanId;
      const options = {
        kind: KINDS[kind],
        links: links.map((link) => ({ context: toSdk(link) })),
        attributes: defined(attributes),
        ...defined({ startTime: startMs }),
      };
      const context = parent ? trace.setSpanContext(ROOT_CONTEXT, toSdk(parent)) : ROOT_CONTEXT;
      try {
        return wrap(tracer.startSpan(name, options, context));
      } finally {
        idGenerator.next = undefined;
      }
    },
    async close() {
      await withTimeout(
        provider.shutdown().catch(() => undefined),
        CLOSE_LIMIT_MS,
      );
    },
  };
}

function wrap(span: SdkSpan): Span {
  return {
    context: fromSdk(span.spanContext()),
    isRecording: span.isRecording(),
    rename: (name) => void span.updateName(name),
    set: (attributes) => void span.setAttributes(defined(attributes)),
    link: (to) => void span.addLink({ context: toSdk(to) }),
    fail: (type) => void span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', type),
    end: (atMs) => span.end(atMs),
  };
}

function toSdk({ traceId, spanId, isSampled, tracestate }: TraceContext): SpanContext {
  return {
    traceId,
    spanId,
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(tracestate === undefined ? {} : { traceState: new TraceState(tracestate) }),
  };
}

function fromSdk({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const tracestate = traceState?.serialize();
  return {
    traceId,
    spanId,
    isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0,
    ...(tracestate ? { tracestate } : {}),
  };
}

/** Attributes in the environment have priority. */
function resourceOf(part: string): Resource {
  const own = resourceFromAttributes({
    'service.name': 'longhaul',
    'service.version': longhaulPackage().version,
    'service.instance.id': randomUUID(),
    'process.pid': process.pid,
    'longhaul.part': part,
  });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
}

/** Logs at most a line a minute. Leaves out the collector's answer, which may repeat what it was sent. */
function complainTo(logger: Logger): void {
  let saidAtMs = -Infinity;
  const complain = (reason: string) => {
    const isDue = performance.now() - saidAtMs >= COMPLAINT_INTERVAL_MS;
    if (isDue) saidAtMs = performance.now();
    logger[isDue ? 'warn' : 'debug']({ reason }, 'spans could not be sent, and are dropped');
  };
  setGlobalErrorHandler((error) => {
    const { name, code } = error as { name?: string; code?: string | number };
    complain([name, code].filter((part) => part !== undefined).join(' '));
  });
  const silent = () => undefined;
  const warn = (message: string) => {
    // The rest of a message may contain a header's value or a password.
    const [setting] = /\bOTEL_[A-Z_]+\b/.exec(message) ?? [];
    if (setting !== undefined) logger.warn(`the value of ${setting} can't be used`);
    else if (message.includes('maxQueueSize reached')) complain('queue is full');
  };
  const log = { error: warn, warn, info: silent, debug: silent, verbose: silent };
  diag.setLogger(log, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}
