/** Queues of tools: how many operations run at once, who is next, what waiting ones say, and that no turn gets lost. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import proto from '@temporalio/proto';
import { PLACES_MEMO, type Places, queueWorkflowId } from '../../operations/wire/queue-wire.js';
import { addApiKey } from '../../mcp-server/auth/key-store.js';
import { linesOf } from '../pipelines/support.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { JobsClient } from '../support/jobs.js';
import { type ProxyCall, TemporalProxy } from '../support/temporal-proxy.js';
import { type Part, TestStack } from '../support/test-stack.js';

const folder = temporaryFolder('fair');
/** Callers of their own: lists of others would be full of their operations. */
const TENANT = `fair-${randomUUID()}`;

/** Folder of the running test: what its operations record. */
let place: string;
beforeEach(() => {
  place = mkdtempSync(join(folder, 'test-'));
});
// Operations that a failed test has left must not hold up the next one.
afterEach(() => release());

const keys = join(folder, 'keys');
const proxy = await forAllTests(TemporalProxy.start(() => undefined));
// Own stack: with API keys and a project of queues; a worker is killed, and a proxy shows a workflow as paused.
const stack = await forAllTests(
  TestStack.start({
    TEMPORAL_ADDRESS: proxy.address,
    LONGHAUL_AUTHENTICATION: 'keys',
    LONGHAUL_KEYS_FOLDER: keys,
    LONGHAUL_PROJECT: resolve('test/fair/project'),
    LONGHAUL_SHIPPED_TOOLS: 'false',
  }),
);
let [, worker] = stack.parts as [Part, Part];
const callerOf = (subject: string) =>
  new JobsClient(stack.base, addApiKey(keys, { tenant: TENANT, subject })[0]);
const callers = { alice: callerOf('alice'), bob: callerOf('bob') };

interface Recorded {
  what: 'begin' | 'end';
  name: string;
  at: number;
}

const recorded = () => linesOf(join(place, 'log')).map((line) => JSON.parse(line) as Recorded);

const begun = () => recorded().flatMap(({ what, name }) => (what === 'begin' ? [name] : []));

/** Most operations that ran at once, of those that `counts` accepts. */
function mostAtOnce(counts: (name: string) => boolean = () => true): number {
  let running = 0;
  let most = 0;
  for (const { what, name } of recorded()) {
    if (!counts(name)) continue;
    running += what === 'begin' ? 1 : -1;
    most = Math.max(most, running);
  }
  return most;
}

const release = (name = 'release') => writeFileSync(join(place, name), '');
const start = (caller: JobsClient, tool: string, name: string, args: object = {}) =>
  caller.start(tool, { folder: place, name, ...args });
const untilBegun = (names: string[]) =>
  eventually(
    () => `${names.join()} have begun; begun are ${begun().join()}`,
    () => names.every((name) => begun().includes(name)),
  );
/** Starts operations that have to wait, each once the last one is in the queue: it asks for its turn by itself. */
async function startWaiting(caller: JobsClient, tool: string, names: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) {
    const id = await start(caller, tool, name);
    await untilWaiting(caller, id, 'waiting for its turn');
    ids.push(id);
  }
  return ids;
}

/** Starts operations of a tool that runs two at once: the first two have begun before the others ask. */
async function startInOrder(caller: JobsClient, tool: string, names: string[]): Promise<string[]> {
  const [first, second, ...others] = names;
  const running = [await start(caller, tool, first!), await start(caller, tool, second!)];
  await untilBegun([first!, second!]);
  return [...running, ...(await startWaiting(caller, tool, others))];
}

const completed = (caller: JobsClient, ids: string[]) =>
  Promise.all(ids.map((id) => caller.until(id, 'succeeded')));
const untilWaiting = (caller: JobsClient, id: string, message: RegExp | string) =>
  caller.until(id, (job) => job.status === 'queued' && new RegExp(message).test(job.status_message ?? ''));

test('no more run at once than the queue allows, and all of them run', async () => {
  const { alice } = callers;
  const names = Array.from({ length: 10 }, (_, at) => `job-${at}`);
  const ids = await startInOrder(alice, 'pair', names);
  await untilWaiting(alice, ids[9]!, '^waiting for its turn: 7 before it$');
  await untilWaiting(alice, ids[2]!, '^waiting for its turn: it is next$');
  for (const name of names) {
    release(name);
    await sleep(50);
  }
  const done = await completed(alice, ids);
  expect(mostAtOnce()).toBe(2);
  expect(begun().sort()).toEqual([...names].sort());
  // The wait for the turn is neither work nor part of the estimate of later calls.
  expect(done[9].estimated_duration_seconds).toBeLessThan(60);
});

test('a call that would have to wait is refused where the author says so, with when to try again', async () => {
  const { alice, bob } = callers;
  const id = await start(alice, 'refusing', 'held');
  await untilBegun(['held']);
  const refused = await bob.kickOff('refusing', { folder: place, name: 'late' });
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('20');
  expect(refused.body).toMatchObject({
    type: '/problems/queue-full',
    retryable: true,
    detail: 'nothing was started: the queue refusing is full: 1 running, 0 waiting; try again in about 20 s',
  });
  const client = stack.client.as(bob.credential!).with({});
  const { result } = await client.call('refusing', { folder: place, name: 'late' });
  expect(result.isError).toBe(true);
  expect(result._meta['longhaul/error']).toEqual({
    kind: 'busy',
    retryable: true,
    retryAfterSeconds: expect.any(Number),
  });
  expect(result.content[0].text).toContain('the queue refusing is full');
  release();
  await completed(alice, [id]);
  const next = await eventually('the next call is taken', async () => {
    const { status, body } = await bob.kickOff('refusing', { folder: place, name: 'next' });
    return status < 300 ? (body.job_id as string) : undefined;
  });
  await completed(bob, [next]);
  expect(begun()).toEqual(['held', 'next']);
});

test('of calls at the same moment, those that the queue refuses fail at once, retryable', async () => {
  const { alice } = callers;
  const answers = await Promise.all(
    ['x', 'y', 'z'].map((name) => alice.kickOff('refusing', { folder: place, name })),
  );
  const ids = answers.flatMap(({ status, body }) => (status < 300 ? [body.job_id as string] : []));
  const ended = await eventually('one runs, the others have failed', async () => {
    const jobs = await Promise.all(ids.map((id) => alice.job(id)));
    return jobs.filter(({ status }) => status === 'running').length === 1 &&
      jobs.filter(({ status }) => status === 'failed').length === ids.length - 1
      ? jobs
      : undefined;
  });
  release();
  for (const { error } of ended.filter(({ status }) => status === 'failed')) {
    expect(error).toMatchObject({ retryable: true });
    expect(error.message ?? error.detail).toContain('the queue refusing is full');
  }
  await completed(alice, [ended.find(({ status }) => status === 'running').job_id]);
  expect(begun()).toHaveLength(1);
});

test('an operation that waits for too long fails', async () => {
  const { alice } = callers;
  const held = await start(alice, 'briefly', 'held');
  await untilBegun(['held']);
  const late = await start(alice, 'briefly', 'late');
  const job = await alice.until(late, 'failed');
  expect(JSON.stringify(job.error)).toContain('its turn in the queue briefly did not come within 1 s');
  release();
  await completed(alice, [held]);
  expect(begun()).toEqual(['held']);
});

test('a waiting operation that is cancelled leaves the queue', async () => {
  const { alice } = callers;
  const held = [await start(alice, 'pair', 'h1'), await start(alice, 'pair', 'h2')];
  await untilBegun(['h1', 'h2']);
  const waiting = await startWaiting(alice, 'pair', ['w1', 'w2']);
  await untilWaiting(alice, waiting[1]!, '1 before it');
  expect((await alice.post(`/v1/jobs/${waiting[0]}:cancel`)).status).toBeLessThan(300);
  await alice.until(waiting[0]!, 'canceled');
  await untilWaiting(alice, waiting[1]!, 'it is next');
  release();
  await completed(alice, [...held, waiting[1]!]);
  expect([...begun()].sort()).toEqual(['h1', 'h2', 'w2']);
});

test('a holder that is cancelled, and one that an operator terminates, free their turns', async () => {
  const { alice } = callers;
  const held = [await start(alice, 'pair', 'h1'), await start(alice, 'pair', 'h2')];
  await untilBegun(['h1', 'h2']);
  const waiting = await startWaiting(alice, 'pair', ['w1', 'w2']);
  await untilWaiting(alice, waiting[1]!, '1 before it');
  await alice.post(`/v1/jobs/${held[0]}:cancel`);
  await untilBegun(['w1']);
  const temporal = await stack.temporal();
  for await (const { workflowId } of temporal.workflow.list({
    query: `TaskQueue = '${stack.taskQueue}' AND ExecutionStatus = 'Running' AND WorkflowType = 'pair'`,
  }))
    if (workflowId.endsWith(held[1]!)) await temporal.workflow.getHandle(workflowId).terminate('by a test');
  await untilBegun(['w2']);
  release();
  await completed(alice, waiting);
});

const { DescribeWorkflowExecutionResponse } = proto.temporal.api.workflowservice.v1;

/** A description as a Temporal with workflow pause gives it, if its workflow ID ends like this. */
function pausedIf(idEnd: string): (call: ProxyCall) => ((message: Buffer) => Uint8Array) | undefined {
  const paused = (message: Buffer) => {
    const described = DescribeWorkflowExecutionResponse.decode(message);
    const info = described.workflowExecutionInfo;
    if (!info?.execution?.workflowId?.endsWith(idEnd)) return message;
    info.status = proto.temporal.api.enums.v1.WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_PAUSED;
    described.workflowExtendedInfo!.pauseInfo = {
      ...{ identity: 'alice', reason: 'maintenance' },
      pausedTime: info.startTime,
    };
    return DescribeWorkflowExecutionResponse.encode(described).finish();
  };
  return ({ method }) => (method === 'DescribeWorkflowExecution' ? paused : undefined);
}

// The embedded Temporal can't pause workflows.
test('a holder that an operator has paused keeps its turn, and its status says by whom', async () => {
  const { alice } = callers;
  const held = await start(alice, 'brush', 'held');
  await untilBegun(['held']);
  const next = await start(alice, 'brush', 'next');
  await untilWaiting(alice, next, 'it is next');
  proxy.rewrite = pausedIf(held);
  await alice.until(held, (job) =>
    /^paused by alice since \S+Z: maintenance$/.test(job.status_message ?? ''),
  );
  const { workflow } = await stack.temporal();
  const queue = workflow.getHandle(queueWorkflowId(stack.taskQueue, 'easel'));
  // Nobody asks meanwhile, so each new marker is of a look at holders.
  const looks = async () =>
    (await queue.fetchHistory()).events!.filter((event) => event.markerRecordedEventAttributes).length;
  const before = await looks();
  await eventually('the queue has looked at its holder', async () => (await looks()) > before);
  const { [PLACES_MEMO]: places } = (await queue.describe()).memo as { [PLACES_MEMO]: Places };
  expect(places.order).toHaveLength(1);
  proxy.rewrite = () => undefined;
  release();
  await completed(alice, [held, next]);
});

test('tools that share a queue run one at a time, those of higher priority first', async () => {
  const { alice, bob } = callers;
  const first = await start(alice, 'brush', 'first');
  await untilBegun(['first']);
  const second = await start(alice, 'brush', 'second');
  await untilWaiting(alice, second, 'it is next');
  const third = await start(bob, 'pencil', 'third');
  await untilWaiting(bob, third, 'it is next');
  await untilWaiting(alice, second, '1 before it');
  release();
  await completed(alice, [first, second]);
  await completed(bob, [third]);
  expect(begun()).toEqual(['first', 'third', 'second']);
  expect(mostAtOnce()).toBe(1);
});

test('an operation that continues as new keeps its turn', async () => {
  const { alice } = callers;
  const first = await start(alice, 'continued', 'first');
  await alice.until(first, 'running');
  const second = await start(alice, 'continued', 'second');
  await untilBegun(['first']);
  await untilWaiting(alice, second, 'it is next');
  release();
  await completed(alice, [first, second]);
  expect(begun()).toEqual(['first', 'second']);
  expect(mostAtOnce()).toBe(1);
});

test('the queue continues where it was after its worker was killed', async () => {
  const { alice, bob } = callers;
  const held = [await start(alice, 'pair', 'h1'), await start(alice, 'pair', 'h2')];
  await untilBegun(['h1', 'h2']);
  const waiting = await startWaiting(alice, 'pair', ['w1', 'w2']);
  const one = await start(bob, 'pair', 'one');
  await untilWaiting(bob, one, '2 before it');
  await worker.end('SIGKILL');
  const later = await start(bob, 'pair', 'later');
  expect((await alice.job(waiting[0]!)).status).toBe('queued');
  worker = stack.worker();
  await stack.ready();
  await untilWaiting(bob, later, '3 before it');
  release();
  await completed(alice, [...held, ...waiting]);
  await completed(bob, [one, later]);
  // Attempts of the killed worker have no end in the log.
  const firstTimes = [...new Set(begun())];
  expect([...firstTimes].sort()).toEqual(['h1', 'h2', 'later', 'one', 'w1', 'w2']);
});

test('a tool that shares a queue under other limits is not served, and says why', async () => {
  const { status, body } = await callers.alice.kickOff('clashing');
  expect(status).toBe(404);
  expect(body.detail).toContain(
    'queue "easel": expected the limits that tool "brush" declares for it (concurrency 1); got concurrency 2',
  );
});
