/** Spans without OpenTelemetry's own packages, for the rest of the code. */
import type { TraceContext } from '../../../operations/wire/trace-context.js';

/** Values of a span's attributes. Never arguments, answers, results, messages of errors, or secrets. */
export type SpanAttributes = Record<string, string | number | boolean | undefined>;

export interface SpanOptions {
  /** `server`: done for a caller elsewhere; `client`: waits for a server elsewhere. Default: `internal` */
  kind?: 'internal' | 'server' | 'client';
  /** Default: the span begins a trace. */
  parent?: TraceContext;
  /** ID of the span, 16 hexadecimal digits: see `spanIdOf`. Default: a random one. */
  spanId?: string;
  /** Related contexts, besides the parent. */
  links?: readonly TraceContext[];
  attributes?: SpanAttributes;
  /** In milliseconds since 1970. Default: now. */
  startMs?: number;
}

/** An open span. A span that isn't sampled has a context too. */
export interface Span {
  readonly context: TraceContext;
  /** Whether it will be exported. */
  readonly isRecording: boolean;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  link(to: TraceContext): void;
  /** Marks it as failed. @param type one of few values: an error code or a class name */
  fail(type: string): void;
  /** @param atMs in milliseconds since 1970. Default: now */
  end(atMs?: number): void;
}

export interface Tracing {
  startSpan(name: string, options?: SpanOptions): Span;
  /** Sends what is left. Resolves within 2 s. */
  close(): Promise<void>;
}
