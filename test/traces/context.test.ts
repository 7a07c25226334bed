/** W3C's trace context as it comes, and the settings by which spans are sent. */
import { expect, test } from '@jest/globals';
import { formatTrace, parseTrace } from '../../operations/wire/trace-context.js';
import { tracesEndpointProblem, wantsTraces } from '../../platform/observe/tracing/index.js';

const TRACE = 'a'.repeat(32);
const SPAN = 'b'.repeat(16);

test('a context is read and written', () => {
  const context = parseTrace(`00-${TRACE}-${SPAN}-01`, 'one=1,two@vendor=a b');
  expect(context).toEqual({
    traceId: TRACE,
    spanId: SPAN,
    isSampled: true,
    tracestate: 'one=1,two@vendor=a b',
  });
  expect(formatTrace(context!)).toEqual({
    traceparent: `00-${TRACE}-${SPAN}-01`,
    tracestate: 'one=1,two@vendor=a b',
  });
  expect(parseTrace(`00-${TRACE}-${SPAN}-00`)).toMatchObject({ isSampled: false });
});

test('a later version is read by the fields that are known, other flags than sampled are left out', () => {
  const context = parseTrace(`01-${TRACE}-${SPAN}-03-more`);
  expect(formatTrace(context!)).toEqual({ traceparent: `00-${TRACE}-${SPAN}-01` });
});

test.each([
  ['no text', 7],
  ['nothing', undefined],
  ['empty', ''],
  ['no hexadecimal', `00-${'g'.repeat(32)}-${SPAN}-01`],
  ['upper case', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ['too short', `00-${TRACE.slice(1)}-${SPAN}-01`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['the version that means nothing', `ff-${TRACE}-${SPAN}-01`],
  ['more than its version has', `00-${TRACE}-${SPAN}-01-more`],
  ['very long', `01-${TRACE}-${SPAN}-01-${'x'.repeat(1000)}`],
])('a malformed traceparent counts as absent: %s', (_problem, traceparent) => {
  expect(parseTrace(traceparent)).toBeUndefined();
});

test.each([
  ['no members', 'text'],
  ['control characters', 'a=\u0000'],
  ['too long', `a=${'x'.repeat(600)}`],
  ['too many members', Array.from({ length: 33 }, (_, index) => `k${index}=v`).join(',')],
  ['another type', ['a=b']],
])('a malformed tracestate is left out: %s', (_problem, tracestate) => {
  expect(parseTrace(`00-${TRACE}-${SPAN}-01`, tracestate)).toEqual({
    traceId: TRACE,
    spanId: SPAN,
    isSampled: true,
  });
});

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

test.each([
  [false, {}],
  [false, { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }],
  [true, ENDPOINT],
  [true, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector/v1/traces' }],
  [true, { OTEL_TRACES_EXPORTER: 'otlp' }],
  [false, { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }],
  [false, { ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }],
  [false, { OTEL_SERVICE_NAME: 'longhaul' }],
])('traces are wanted, %s: %j', (isWanted, environment) => {
  expect(wantsTraces(environment)).toBe(isWanted);
});

test.each([
  [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER: expected otlp or none; got zipkin'],
  [
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    'OTEL_EXPORTER_OTLP_PROTOCOL: expected http/protobuf; got grpc',
  ],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
    'OTEL_EXPORTER_OTLP_ENDPOINT: expected a URL with http or https',
  ],
  [ENDPOINT, undefined],
  [
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf' },
    undefined,
  ],
])('settings that the exporter does not have are named: %j', (environment, problem) => {
  expect(tracesEndpointProblem(environment)).toBe(problem);
});
