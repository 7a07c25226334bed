/**
 * Cost of each path at Temporal: events and billed actions in history, calls of the server and the worker, calls to visibility.
 * The figures are those of docs/cost.md, which this test reads.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { SEARCH_ATTRIBUTES } from '../../operations/wire/index.js';
import { queueWorkflowId } from '../../operations/wire/queue-wire.js';
import { INBOX_WORKFLOW } from '../../mailbox/wire.js';
import { eventually } from '../stack/cli-process.js';
import { expectRow } from '../support/cost-table.js';
import { forAllTests, inSetUp } from '../support/for-all-tests.js';
import { historyCost } from '../support/history-cost.js';
import { PROCESSES_MS } from '../support/limits.js';
import { newNamespace } from '../support/namespace.js';
import { TemporalProxy } from '../support/temporal-proxy.js';
import { COUNTED_PROJECT, TestStack } from '../support/test-stack.js';
import { LegacyClient } from '../revision-2025-11-25/wire.js';

/** Time for which operations are watched; figures are for a minute. */
const WATCHED_MS = 40_000;
const MINUTE_MS = 60_000;
/** Time until watchers have settled: intervals between looks grow at first. */
const SETTLE_MS = 10_000;
const VISIBILITY = /^(Count|List|Scan)\w*Workflow/;

const PAGE = 'docs/cost.md';

/** The server's connection, and the worker's. */
const server = await forAllTests(TemporalProxy.start(() => undefined));
const worker = await forAllTests(TemporalProxy.start(() => undefined));
const namespace = await inSetUp(newNamespace('cost'));
// Own stack: proxies count the calls of server and worker.
const stack = await forAllTests(
  TestStack.serverAlone({
    ...COUNTED_PROJECT,
    TEMPORAL_ADDRESS: server.address,
    TEMPORAL_NAMESPACE: namespace,
    LONGHAUL_MAILBOX: 'true',
    // The defaults of a named Temporal.
    LONGHAUL_HEARTBEAT_SECONDS: '',
    LONGHAUL_VISIBILITY_CALLS_PER_SECOND: '',
  }),
);
stack.worker({ TEMPORAL_ADDRESS: worker.address });
await inSetUp(stack.ready());

const sum = (counts: Record<string, number>) =>
  Object.values(counts).reduce((total, count) => total + count, 0);

/** Calls about an operation since {@link record}, without long polls of the worker for tasks. */
function callsAbout(token: string) {
  return { server: sum(server.recordedCalls(token)), worker: sum(worker.recordedCalls(token)) };
}

function record(): void {
  server.record();
  worker.record();
}

/** Calls to visibility since {@link record}, without the sweep for overdue operations, which is no operation's. */
const allVisibilityCalls = () =>
  [...server.recorded!, ...worker.recorded!].filter(
    ({ method, request }) => VISIBILITY.test(method) && !request.includes("StartTime < '"),
  );

const isForEstimates = ({ request }: { request: string }) =>
  request.includes("ExecutionStatus = 'Completed' AND TaskQueue = ");

const isForSessions = ({ request }: { request: string }) =>
  request.includes(`${SEARCH_ATTRIBUTES.session} IN (`);

/** Calls to visibility for estimates since {@link record}. */
const estimateCalls = () => allVisibilityCalls().filter(isForEstimates).length;

/** Others: whether past runs are due to be read depends on when the test runs. */
const visibilityCalls = () => allVisibilityCalls().length - estimateCalls();

/** Waits, by a client of Temporal that isn't counted, until a workflow has closed. */
async function closed(token: string): Promise<void> {
  const temporal = await stack.temporal(namespace);
  await temporal.workflow
    .getHandle(token)
    .result()
    .catch(() => undefined);
}

async function costOfHistory(token: string) {
  return historyCost(await stack.temporal(namespace), token);
}

async function expectOperation(path: string, token: string): Promise<void> {
  await closed(token);
  const { events, actions } = await costOfHistory(token);
  expectRow(PAGE, path, { events, actions, ...callsAbout(token), visibility: visibilityCalls() });
}

async function warmUp(tool: string): Promise<void> {
  await stack.client.until(await stack.client.start(tool), (task) => task.status !== 'submitted');
  // The server reads the past runs of its tools.
  let lists: number | undefined;
  const count = () => server.calls.get('ListWorkflowExecutions') ?? 0;
  await eventually('the lists of the start are over', async () => {
    if (lists === count() && lists > 0) return true;
    lists = count();
    await sleep(2_000);
    return false;
  });
}

describe('an operation', () => {
  test('with one activity', async () => {
    await warmUp('counted');
    record();
    await expectOperation('operation with one activity', await stack.client.start('counted'));
  });

  test('with one activity and a queue', async () => {
    await warmUp('counted_in_turn');
    const queue = queueWorkflowId(stack.taskQueue, 'counted_in_turn');
    const settled = async () => {
      let last: number | undefined;
      return eventually('the queue has nothing to do', async () => {
        const cost = await costOfHistory(queue);
        const hasChanged = cost.events !== last;
        last = cost.events;
        if (hasChanged) await sleep(500);
        return hasChanged ? undefined : cost;
      });
    };
    await stack.client.until(await stack.client.start('counted_in_turn'), 'completed');
    const before = await settled();
    record();
    await expectOperation(
      'operation with one activity and a queue',
      await stack.client.start('counted_in_turn'),
    );
    const after = await settled();
    expectRow(PAGE, 'its queue', {
      events: after.events - before.events,
      actions: after.actions - before.actions,
      server: 0,
      worker: 0,
      visibility: 0,
    });
  });

  test('with one question', async () => {
    const { client } = stack;
    await warmUp('asked');
    record();
    const token = await client.start('asked');
    const { inputRequests } = await client.until(token, 'input_required');
    const polls = sum(server.recordedCalls(token)) - 1;
    await client.answer(token, Object.keys(inputRequests)[0]!, {
      action: 'accept',
      content: { approve: true },
    });
    await closed(token);
    const { events, actions } = await costOfHistory(token);
    const calls = callsAbout(token);
    expectRow(PAGE, 'operation with one question, answered', {
      events,
      actions,
      server: calls.server - polls,
      worker: calls.worker,
      visibility: visibilityCalls(),
    });
  });

  test('of a pipeline with one step', async () => {
    await warmUp('one_step');
    record();
    await expectOperation('pipeline with one job of one step', await stack.client.start('one_step'));
  });
});

describe('a call', () => {
  const expectCall = async (path: string, token: string, call: () => Promise<unknown>) => {
    const before = await costOfHistory(token);
    record();
    await call();
    const after = await costOfHistory(token);
    expectRow(PAGE, path, {
      events: after.events - before.events,
      actions: after.actions - before.actions,
      ...callsAbout(token),
      visibility: visibilityCalls(),
    });
  };

  test('that reads', async () => {
    const { client } = stack;
    const token = await client.start('counted');
    await client.until(token, 'completed');
    // Past the time for which closed records are cached.
    await sleep(6_000);
    await expectCall('read of a closed operation', token, () => client.get(token));
    const running = await client.start('watched');
    await client.until(running, (task) => task._meta?.['longhaul/progress']);
    await expectCall('read of a running operation', running, () => client.get(running));
    await client.request('tasks/cancel', { taskId: running });
  });

  test('that lists', async () => {
    const plain = stack.client.with({});
    record();
    const { result } = await plain.request('tools/call', { name: 'operation_list' });
    expect(result.isError).toBeUndefined();
    expectRow(PAGE, 'page of a list', {
      events: 0,
      actions: 0,
      server: server.recorded!.length - visibilityCalls(),
      worker: 0,
      visibility: visibilityCalls(),
    });
  });

  test('whose estimate needs newer runs', async () => {
    const { client } = stack;
    await warmUp('counted');
    record();
    await eventually('newer runs are read', async () => {
      await client.start('counted');
      await sleep(2_000);
      return estimateCalls() > 0;
    });
    expectRow(PAGE, 'newer runs for estimates of a tool', {
      events: 0,
      actions: 0,
      server: 0,
      worker: 0,
      visibility: estimateCalls(),
    });
  });
});

test('a message of the mailbox, from its send to the response, for an agent that waits', async () => {
  const plain = stack.client.with({});
  const call = async (name: string, args: object) => {
    const { result } = await plain.call(name, args);
    const text = result.content[0].text as string;
    if (result.isError) throw new Error(text);
    return JSON.parse(text);
  };
  const soon = { timeout_seconds: 0.2 };
  const agent = { agent_name: 'counted', agent_type: 'test' };
  const { agent_id } = await call('register_and_wait', { ...agent, ...soon });
  const temporal = await stack.temporal(namespace);
  const inbox = await eventually('the inbox is listed', async () => {
    for await (const { workflowId } of temporal.workflow.list({
      query: `WorkflowType = '${INBOX_WORKFLOW}'`,
    }))
      return workflowId;
    return undefined;
  });
  const exchange = async () => {
    const waiting = call('wait', { agent_id, timeout_seconds: 50 });
    await call('send_message', { to: 'counted', content: 'do it', from: 'boss' });
    const { id } = await waiting;
    await call('respond_and_wait', { agent_id, response_to: id, response: 'done', ...soon });
  };
  // The first one begins the long poll of the inbox.
  await exchange();
  const before = await costOfHistory(inbox);
  record();
  await exchange();
  const after = await costOfHistory(inbox);
  expectRow(PAGE, 'message of the mailbox, with its response', {
    events: after.events - before.events,
    actions: after.actions - before.actions,
    ...callsAbout(inbox),
    visibility: visibilityCalls(),
  });
});

test(
  'a minute of running work, alone, watched by requests, and of sessions that listen',
  async () => {
    const { client, base } = stack;
    const tokens = new Map<string, string>();
    const start = async (path: string) => {
      const token = await client.start('watched');
      tokens.set(path, token);
      return token;
    };
    const end = new AbortController();
    await start('running activity, unwatched');
    const asked = await client.start('asked');
    await client.until(asked, 'input_required');
    tokens.set('open question, unwatched', asked);
    const streams: { close(): void }[] = [
      await client.listen({ taskIds: [await start('subscription (2026-07-28)')] }),
    ];
    const plain = client.with({});
    const token = await start('waiting call of a plain tool');
    const params = { name: 'operation_get', arguments: { token, wait: true, timeout: 60 } };
    const body = JSON.stringify(plain.envelope('tools/call', params));
    plain
      .post(body, plain.headers('tools/call', params), end.signal)
      .then((response) => response.text())
      .catch(() => undefined);
    const job = await start('events of an HTTP job');
    const events = await fetch(`${base}/v1/jobs/${job}/events`, { signal: end.signal });
    expect(events.status).toBe(200);
    events.text().catch(() => undefined);
    const session = await LegacyClient.open(`${base}/mcp`, '2025-11-25');
    streams.push(await session.listen());
    tokens.set('listening session (2025-11-25)', (await session.task('watched')).taskId);
    const capabilities = { experimental: { twoStage: {} } };
    const twoStage = await LegacyClient.open(`${base}/mcp`, '2025-11-25', capabilities);
    streams.push(await twoStage.listen());
    tokens.set('listening session (two-stage)', (await twoStage.call('watched')).result.job_id);

    await sleep(SETTLE_MS);
    record();
    await sleep(WATCHED_MS);
    const perMinute = (count: number) => Math.ceil((count * MINUTE_MS) / WATCHED_MS);
    // One query is for all sessions.
    const forSessions = perMinute(allVisibilityCalls().filter(isForSessions).length);
    const others = perMinute(visibilityCalls()) - forSessions;
    const measured = [...tokens].map(([path, token]) => ({
      path,
      calls: perMinute(callsAbout(token).server),
      heartbeats: Math.floor(
        ((worker.recordedCalls(token)['RecordActivityTaskHeartbeat'] ?? 0) * MINUTE_MS) / WATCHED_MS,
      ),
    }));
    for (const stream of streams) stream.close();
    end.abort();
    for (const token of tokens.values()) await client.request('tasks/cancel', { taskId: token });
    for (const { path, calls, heartbeats } of measured)
      expectRow(PAGE, path, {
        events: 0,
        actions: heartbeats,
        server: calls,
        worker: heartbeats,
        visibility: path.startsWith('listening session') ? forSessions : others,
      });
  },
  PROCESSES_MS + SETTLE_MS + WATCHED_MS,
);
