/** Traces from a client's request to the step's process: which spans there are, their parents, and what they lead to. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { LegacyClient } from '../revision-2025-11-25/wire.js';
import { protocolClients } from '../support/protocols/index.js';
import type { ReceivedSpan } from './collector.js';
import { ClientTrace, linesOf, TracedStack } from './support.js';

const stack = await forAllTests(
  TracedStack.start({
    LONGHAUL_SECRET_OF_TESTS: 'marker-secret-7f3a',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=marker-collector-7f3a',
    OF_THE_MACHINE: 'marker-environment-7f3a',
  }),
);

/** Calls a tool as a task. @param fields of `_meta` */
async function start(tool: string, args: object, fields: object, headers = {}): Promise<string> {
  const { result, error } = await stack.client.request(
    'tools/call',
    { name: tool, arguments: args, _meta: fields },
    headers,
  );
  if (result?.resultType !== 'task') throw new Error(JSON.stringify(error ?? result));
  return result.taskId;
}

function childrenOf({ spanId }: ReceivedSpan, name: string): ReceivedSpan[] {
  return stack.collector.spans.filter((span) => span.parentSpanId === spanId && span.name === name);
}

function only<T>(all: T[]): T {
  expect(all).toHaveLength(1);
  return all[0]!;
}

test('a pipeline called with a context in _meta is one trace, from the request to the processes of its steps', async () => {
  const trace = new ClientTrace();
  const transport = new ClientTrace();
  const token = await start('traced', { ledger: stack.ledger('whole') }, trace.fields, {
    ...transport.fields,
    'x-request-id': 'whole-1',
  });
  await stack.client.until(token, 'completed');

  const [run] = await stack.span(trace.traceId, 'RunWorkflow:pipeline');
  const request = only(await stack.span(trace.traceId, 'tools/call traced'));
  expect(request).toMatchObject({
    parentSpanId: trace.spanId,
    tracestate: 'vendor=of-the-client',
    kind: 'server',
    isError: false,
    links: [{ traceId: transport.traceId, spanId: transport.spanId }],
    attributes: {
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': '2026-07-28',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'traced',
      'network.transport': 'tcp',
      'longhaul.token': token,
    },
    resource: { 'service.name': 'longhaul', 'longhaul.part': 'server' },
  });
  expect(request.attributes).not.toHaveProperty('mcp.session.id');
  expect(stack.collector.trace(transport.traceId)).toEqual([]);

  const started = only(childrenOf(request, 'StartWorkflow:pipeline'));
  expect(started).toMatchObject({
    kind: 'client',
    attributes: {
      'rpc.method': 'temporal.api.workflowservice.v1.WorkflowService/StartWorkflowExecution',
      temporalWorkflowID: token,
    },
  });
  expect(run).toMatchObject({
    parentSpanId: started.spanId,
    kind: 'server',
    isError: false,
    attributes: { temporalWorkflowID: token, 'longhaul.tool': 'traced', 'longhaul.outcome': 'completed' },
    resource: { 'longhaul.part': 'worker' },
  });
  const attempts = childrenOf(run!, 'RunActivity:runPipelineStep');
  expect(attempts.map(({ isError, attributes }) => [isError, attributes['longhaul.attempt']])).toEqual([
    [false, 1],
    [true, 1],
    [false, 2],
  ]);
  expect(attempts[1]!.attributes).toMatchObject({
    'error.type': 'StepFailed',
    'longhaul.outcome': 'failed',
    'longhaul.queued_ms': expect.any(Number),
  });
  const [write, failed, again] = attempts.map((attempt, index) =>
    only(childrenOf(attempt, index === 0 ? 'RunStep:write' : 'RunStep:again')),
  );
  expect(failed).toMatchObject({ isError: true, attributes: { 'process.exit.code': 1 } });
  expect(stack.lines('whole')).toEqual([
    `write 00-${trace.traceId}-${write!.spanId}-01 vendor=of-the-client`,
    `again 00-${trace.traceId}-${failed!.spanId}-01`,
    `again 00-${trace.traceId}-${again!.spanId}-01`,
  ]);
  for (const span of stack.collector.trace(trace.traceId))
    expect(span.endMs).toBeGreaterThanOrEqual(span.startMs);
  expect(childrenOf(started, 'RunWorkflow:pipeline')).toHaveLength(1);
});

test('an operation shows its trace over every protocol; log lines of server and worker have it', async () => {
  const trace = new ClientTrace();
  const token = await start('trip', {}, trace.fields, { 'x-request-id': 'shown-1' });
  const task = await stack.client.until(token, 'completed');
  expect(task._meta['longhaul/trace-id']).toBe(trace.traceId);
  const { result } = await stack.client.call('operation_get', { token, view: 'full' });
  expect(result.structuredContent.trace_id).toBe(trace.traceId);
  expect((await stack.jobs.job(token)).trace_id).toBe(trace.traceId);
  const older = await LegacyClient.open(`${stack.parts.base}/mcp`, '2025-11-25', {});
  const read = await older.request('tasks/get', { taskId: token });
  expect(read.result._meta['longhaul/trace-id']).toBe(trace.traceId);

  const worker = linesOf(stack.part('worker')).filter((line) => line['token'] === token);
  expect(worker.map(({ msg }) => msg)).toEqual(
    expect.arrayContaining(['Workflow started', 'packed', 'drives', 'Activity failed', 'Workflow completed']),
  );
  for (const line of worker)
    expect(line).toMatchObject({
      tool: 'trip',
      principal: 'anonymous',
      requestId: 'shown-1',
      trace_id: trace.traceId,
      span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
  const served = linesOf(stack.part('server')).filter((line) => line['requestId'] === 'shown-1');
  expect(served.find(({ msg }) => msg === 'MCP request')).toMatchObject({
    ...{ method: 'tools/call', tool: 'trip', token, principal: 'anonymous', trace_id: trace.traceId },
    rpcId: expect.any(Number),
  });
});

test('child workflows, local activities, retries and later runs are in the trace, below the run that has started them', async () => {
  const trace = new ClientTrace();
  const token = await start('trip', {}, trace.fields);
  await stack.client.until(token, 'completed');
  const [first, second] = await stack.span(trace.traceId, 'RunWorkflow:trip', 2);
  expect(first!.attributes['longhaul.outcome']).toBe('continued_as_new');
  expect(second).toMatchObject({
    parentSpanId: first!.parentSpanId,
    links: [{ traceId: trace.traceId, spanId: first!.spanId }],
    attributes: { 'longhaul.outcome': 'completed' },
  });
  only(childrenOf(first!, 'RunActivity:pack'));
  const drives = childrenOf(first!, 'RunActivity:drive');
  expect(drives.map(({ attributes }) => attributes['error.type'])).toEqual(['NoFuel', undefined]);
  const walk = only(childrenOf(first!, 'RunWorkflow:walk'));
  expect(walk.attributes).toMatchObject({ 'longhaul.token': token, 'longhaul.tool': 'trip' });
  only(childrenOf(walk, 'RunActivity:pack'));
});

test('a job whose HTTP request has a context is in that trace, and its answer in that of the answer', async () => {
  const trace = new ClientTrace();
  const kickoff = await stack.jobs.kickOff(
    'trip',
    { asks: true },
    { ...trace.fields, prefer: 'respond-async', 'x-request-id': 'job-1' },
  );
  expect(kickoff.headers.get('x-request-id')).toBe('job-1');
  const id = kickoff.body.job_id;
  const request = only(await stack.span(trace.traceId, 'POST /v1/tools/{tool}/jobs'));
  expect(request).toMatchObject({
    parentSpanId: trace.spanId,
    attributes: { 'http.response.status_code': 202, 'longhaul.token': id, 'gen_ai.tool.name': 'trip' },
  });
  const started = only(childrenOf(request, 'StartWorkflow:trip'));
  const [key] = Object.keys(
    (await stack.jobs.until(id, (job) => job.input_required)).input_required.requests,
  );
  const answering = new ClientTrace();
  await stack.jobs.post(`/v1/jobs/${id}/input`, { key, value: { sure: true } }, answering.fields);
  await stack.jobs.until(id, 'succeeded');
  const [run] = await stack.span(trace.traceId, 'RunWorkflow:trip');
  expect(run!.parentSpanId).toBe(started.spanId);
  const [handled] = await stack.span(answering.traceId, 'HandleUpdate:provide_input');
  const answer = only(await stack.span(answering.traceId, 'POST /v1/jobs/{id}/input'));
  const update = only(childrenOf(answer, 'UpdateWorkflow:provide_input'));
  expect(handled).toMatchObject({
    parentSpanId: update.spanId,
    links: [{ traceId: trace.traceId, spanId: run!.spanId }],
  });
});

test('a failed operation: error status with the type alone', async () => {
  const trace = new ClientTrace();
  const token = await start('trip', { breaks: true }, trace.fields);
  await stack.client.until(token, (task) => task.status === 'completed' || task.status === 'failed');
  const [run] = await stack.span(trace.traceId, 'RunWorkflow:trip');
  expect(run).toMatchObject({ isError: true, message: '', attributes: { 'longhaul.outcome': 'failed' } });
  const refused = new ClientTrace();
  await stack.client.request('tools/call', { name: 'trip', arguments: { leg: 'x' }, _meta: refused.fields });
  expect(only(await stack.span(refused.traceId, 'tools/call trip'))).toMatchObject({
    isError: true,
    message: '',
    attributes: { 'error.type': 'tool_error' },
  });
  const missing = new ClientTrace();
  await stack.client.request('tasks/get', { taskId: 'no-such-task', _meta: missing.fields });
  const polled = only(await stack.span(missing.traceId, 'tasks/get'));
  expect(polled).toMatchObject({ isError: true, attributes: { 'rpc.response.status_code': '-32602' } });
  expect(only(childrenOf(polled, 'DescribeWorkflow'))).toMatchObject({ isError: true });
});

test('a trace that is not sampled has no spans, and steps still get its context', async () => {
  const trace = new ClientTrace(false);
  const token = await start('traced', { ledger: stack.ledger('unsampled') }, trace.fields);
  const task = await stack.client.until(token, 'completed');
  expect(task._meta['longhaul/trace-id']).toBe(trace.traceId);
  expect(stack.lines('unsampled')[0]).toMatch(
    new RegExp(`^write 00-${trace.traceId}-[0-9a-f]{16}-00 vendor`),
  );
  // Spans that were ended later than its own would have been.
  const later = new ClientTrace();
  await start('trip', {}, later.fields);
  await stack.span(later.traceId, 'RunWorkflow:trip', 2);
  expect(stack.collector.trace(trace.traceId)).toEqual([]);
});

test('a resumed operation has the trace of the request that resumes it, linked to the first', async () => {
  const first = new ClientTrace();
  const token = await start('held', { ledger: stack.ledger('resumed') }, first.fields);
  await eventually('the step runs', () => stack.lines('resumed').length > 0);
  await stack.client.request('tasks/cancel', { taskId: token });
  await stack.client.until(token, 'cancelled');
  writeFileSync(`${stack.ledger('resumed')}.go`, '');
  const second = new ClientTrace();
  await stack.client.request('tools/call', {
    name: 'operation_resume',
    arguments: { token },
    _meta: second.fields,
  });
  const request = only(await stack.span(second.traceId, 'tools/call operation_resume'));
  const original = only(await stack.span(first.traceId, 'tools/call held'));
  expect(request.links).toEqual([{ traceId: first.traceId, spanId: original.spanId }]);
  const [run] = await stack.span(second.traceId, 'RunWorkflow:pipeline');
  expect(run!.attributes['longhaul.outcome']).toBe('completed');
});

test('a step that outlives its worker: the one that reports its outcome ends the spans of step and attempt', async () => {
  const trace = new ClientTrace();
  const token = await start('held', { ledger: stack.ledger('adopted') }, trace.fields, {
    'x-request-id': 'adopted-1',
  });
  await eventually('the step runs', () => stack.lines('adopted').length > 0);
  await stack.part('worker').end('SIGKILL');
  const worker = stack.parts.worker();
  await eventually('the step is adopted', () => worker.output().includes('adopted a step'));
  writeFileSync(`${stack.ledger('adopted')}.go`, '');
  await stack.client.until(token, 'completed');
  const [run] = await stack.span(trace.traceId, 'RunWorkflow:pipeline');
  const [step] = await stack.span(trace.traceId, 'RunStep:hold on');
  const attempt = only(childrenOf(run!, 'RunActivity:runPipelineStep'));
  expect(attempt).toMatchObject({
    isError: false,
    attributes: { 'longhaul.adopted': true, 'longhaul.attempt': 1, 'longhaul.outcome': 'completed' },
  });
  expect(step!.parentSpanId).toBe(attempt.spanId);
  expect(stack.lines('adopted')).toEqual([`held 00-${trace.traceId}-${step!.spanId}-01`]);
  expect(linesOf(worker).find(({ msg }) => msg === 'adopted a step')).toMatchObject({
    ...{ token, tool: 'held', principal: 'anonymous', requestId: 'adopted-1', trace_id: trace.traceId },
  });
});

test('request IDs: one that the client gives is returned, any other is replaced', async () => {
  const ask = async (id?: string) => {
    const response = await fetch(`${stack.parts.base}/healthz`, {
      headers: id ? { 'x-request-id': id } : {},
    });
    return response.headers.get('x-request-id');
  };
  expect(await ask('abc-1')).toBe('abc-1');
  const made = [await ask(), await ask('with spaces in it'), await ask('x'.repeat(129))];
  for (const id of made) expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(new Set(made).size).toBe(made.length);
});

test('over stdio, requests of both revisions have spans in the trace of their _meta', async () => {
  for (const isCurrent of [true, false]) {
    const trace = new ClientTrace();
    const server = stack.stdio();
    const send = (message: object) => server.stdin!.write(`${JSON.stringify(message)}\n`);
    const call = { name: 'operation_list', arguments: {}, _meta: trace.fields };
    if (!isCurrent) {
      const clientInfo = { name: 'tests', version: '1' };
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
      send({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
      send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      send({ jsonrpc: '2.0', id: 9, method: 'tools/call', params: call });
    } else send({ ...stack.client.envelope('tools/call', call), id: 9 });
    const [span] = await stack.span(trace.traceId, 'tools/call operation_list');
    expect(span).toMatchObject({
      parentSpanId: trace.spanId,
      attributes: {
        'mcp.protocol.version': isCurrent ? '2026-07-28' : '2025-11-25',
        'network.transport': 'pipe',
        'jsonrpc.request.id': '9',
      },
      resource: { 'longhaul.part': 'stdio' },
    });
    server.stdin!.end();
    await once(server, 'close');
  }
});

test('neither logs nor spans have arguments, answers, results, credentials or other texts of clients', async () => {
  const marker = (what: string) => `marker-${what}-7f3a`;
  for (const protocol of protocolClients(stack.parts.base)) {
    const args = { luggage: marker('argument'), asks: true };
    const token = await protocol.start('trip', args, marker(`key-${protocol.name.replaceAll(' ', '-')}`));
    const asked = await eventually(`${protocol.name}: it asks`, async () => {
      const reading = await protocol.read(token);
      return reading?.questions[0];
    });
    await protocol.answer(token, asked.key, { sure: true, note: marker('answer') });
    const closed = await eventually(`${protocol.name}: it has completed`, async () => {
      const reading = await protocol.read(token);
      return reading?.isOver && reading.result !== undefined ? reading : undefined;
    });
    expect(JSON.stringify(closed.result)).toContain(marker('argument'));
    await expect(protocol.start('trip', { leg: marker('invalid') }, 'other')).rejects.toThrow();
    await expect(protocol.start(marker('tool'), {}, 'unknown')).rejects.toThrow();
    await protocol.close?.();
  }
  const headers = {
    authorization: `Bearer ${marker('bearer')}`,
    baggage: `user=${marker('baggage')}`,
    cookie: `session=${marker('cookie')}`,
    'x-request-id': `lh_0123456789ab_${marker('key')}`,
  };
  await stack.client.request('tools/list', {}, headers);
  await stack.client.request(marker('method'), {}, headers);
  await stack.jobs.get(`/v1/jobs/${marker('job')}?wait=${marker('query')}`, headers);
  await stack.jobs.get(`/${marker('path')}`, headers);
  await stack.jobs.post('/v1/tools/trip/jobs', `{"luggage": "${marker('json')}`, headers);
  const pipeline = new ClientTrace();
  const token = await start('held', { ledger: stack.ledger(marker('input')) }, pipeline.fields);
  writeFileSync(`${stack.ledger(marker('input'))}.go`, '');
  await stack.client.until(token, 'completed');
  await stack.span(pipeline.traceId, 'RunWorkflow:pipeline');

  const written = [...stack.outputs(), ...stack.collector.bodies.map((body) => body.toString('latin1'))].join(
    '\n',
  );
  expect(written).toContain(pipeline.traceId);
  const found = [...written.matchAll(/marker-([a-z]+)/g)]
    // A job's ID is a token, which a client may make up.
    .filter(([, what]) => what !== 'job')
    .map(({ index }) => written.slice(Math.max(0, index - 200), index + 100));
  expect(found).toEqual([]);
});

/** Last: it ends the processes. */
test('a collector that takes spans and does not answer delays neither calls nor the shutdown', async () => {
  stack.collector.isHanging = true;
  const { requests } = stack.collector;
  const trace = new ClientTrace();
  const token = await start('trip', {}, trace.fields);
  await stack.client.until(token, 'completed');
  await eventually('the collector has spans', () => stack.collector.requests > requests);
  for (const command of ['server', 'worker'] as const) {
    const part = stack.part(command);
    const beganMs = performance.now();
    await part.end();
    // The SDK itself would wait for 30 s.
    expect([command, part.process.exitCode, performance.now() - beganMs < 15_000]).toEqual([
      command,
      0,
      true,
    ]);
  }
});

test('a collector that is down is a warning: calls are served, and the server ends in time', async () => {
  const server = stack.parts.server({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
  });
  await eventually('it serves', () =>
    stack.client.request('tools/list').then(
      ({ result }) => result?.tools.length > 0,
      () => false,
    ),
  );
  await eventually('it warns', () =>
    linesOf(server).some(
      ({ level, msg }) => level === 40 && msg === 'spans could not be sent, and are dropped',
    ),
  );
  const beganMs = performance.now();
  await server.end();
  expect([server.process.exitCode, performance.now() - beganMs < 15_000]).toEqual([0, true]);
});
