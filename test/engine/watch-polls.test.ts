/** Calls and events that watches read of a workflow's history, counted by a proxy before Temporal. No worker takes the workflows. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { NativeConnection } from '@temporalio/worker';
import type { TemporalClient } from '../../engine/temporal/client.js';
import { Watches } from '../../engine/watch/index.js';
import { PROVIDE_INPUT_SIGNAL } from '../../operations/wire/index.js';
import type { OperationRecord } from '../../operations/record.js';
import { LegacyClient } from '../revision-2025-11-25/wire.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { PROCESSES_MS } from '../support/limits.js';
import { resetBefore, type HistoryEvent } from '../support/reset-workflow.js';
import { connectToTemporal } from '../support/run-temporal.js';
import { TemporalProxy } from '../support/temporal-proxy.js';
import { COUNTED_PROJECT, TestStack } from '../support/test-stack.js';

const { GetWorkflowExecutionHistoryResponse } = proto.temporal.api.workflowservice.v1;
const { COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION } = proto.temporal.api.enums.v1.CommandType;
const POLL = 'GetWorkflowExecutionHistory';
const SIGNALS = 2_000;
const SIGNALS_AT_A_TIME = 50;

/** The start and the first workflow task, then the signals. */
const LONG_HISTORY = 2 + SIGNALS;

/** Watches of this process, whose connection goes through a proxy. */
class Watcher {
  /** IDs of the events in the responses so far. */
  readonly events: number[] = [];
  /** Polls that ended with an error. */
  failures = 0;
  changes = 0;

  private constructor(
    readonly proxy: TemporalProxy,
    readonly watches: Watches,
    private readonly connection: NativeConnection,
  ) {
    onEvents(proxy, (events) => this.events.push(...events.map(({ eventId }) => Number(eventId))));
    const service = connection.workflowService as any;
    const poll = service.getWorkflowExecutionHistory.bind(service);
    service.getWorkflowExecutionHistory = (request: object) =>
      poll(request).catch((error: unknown) => {
        this.failures += 1;
        throw error;
      });
  }

  static async start(): Promise<Watcher> {
    const proxy = await TemporalProxy.start(() => undefined);
    const connection = await NativeConnection.connect({ address: proxy.address });
    const client = new Client({ connection });
    const watches = new Watches({ client, namespace: 'default' } as unknown as TemporalClient);
    return new Watcher(proxy, watches, connection);
  }

  follow(workflowId: string): () => void {
    return this.watches.follow(workflowId, () => (this.changes += 1));
  }

  /** Watches a workflow up to now, then leaves it with nobody who watches. */
  async visit(workflowId: string): Promise<void> {
    const before = this.events.length;
    const leave = this.follow(workflowId);
    await eventually('its events are read', () => this.events.length > before);
    leave();
    await this.endPoll(workflowId);
  }

  /** Ends the poll of a workflow that nobody watches, by an event. */
  async endPoll(workflowId: string): Promise<void> {
    await eventually('nothing is watched', async () => {
      await temporal.workflow.getHandle(workflowId).signal('noise');
      return this.watches.counts.operations === 0;
    });
  }

  async expectWakes(workflowId: string): Promise<void> {
    const before = this.changes;
    await answer(workflowId);
    await eventually('the watcher is called', () => this.changes > before);
  }

  async close(): Promise<void> {
    await this.connection.close();
    await this.proxy.close();
  }
}

/** Calls back with the events in each response of a watch. */
function onEvents(proxy: TemporalProxy, read: (events: HistoryEvent[]) => void): void {
  proxy.rewrite = ({ method }) => (method === POLL ? readResponse : undefined);
  const readResponse = (message: Buffer) => {
    read(GetWorkflowExecutionHistoryResponse.decode(message).history?.events ?? []);
    return message;
  };
}

const connection = await forAllTests(connectToTemporal());
const temporal = new Client({ connection });
const watcher = await forAllTests(Watcher.start());
beforeEach(() => {
  watcher.events.length = 0;
});

/** Starts a workflow that no worker takes, on a queue with its ID as name. */
async function startUntaken(workflowId = `watched-${randomUUID()}`): Promise<string> {
  await temporal.workflow.start('any', { workflowId, taskQueue: workflowId });
  return workflowId;
}

/** Makes a history long. A watcher isn't called for these events. */
async function signal(workflowId: string): Promise<void> {
  const handle = temporal.workflow.getHandle(workflowId);
  for (let sent = 0; sent < SIGNALS; sent += SIGNALS_AT_A_TIME)
    await Promise.all(Array.from({ length: SIGNALS_AT_A_TIME }, () => handle.signal('noise')));
}

/** Signals an answer, for which watchers are called even without a worker. */
const answer = (workflowId: string) =>
  temporal.workflow.getHandle(workflowId).signal(PROVIDE_INPUT_SIGNAL.name, {});

/** Completes a workflow task in place of a worker. */
async function completeTask(taskQueue: string, commands: proto.temporal.api.command.v1.ICommand[] = []) {
  const { namespace } = temporal.options;
  const task = await temporal.withDeadline(Date.now() + PROCESSES_MS, () =>
    temporal.workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: taskQueue } }),
  );
  await temporal.workflowService.respondWorkflowTaskCompleted({
    namespace,
    taskToken: task.taskToken,
    commands,
  });
}

function continueAsNew(workflowId: string): Promise<void> {
  return completeTask(workflowId, [
    {
      commandType: COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION,
      continueAsNewWorkflowExecutionCommandAttributes: {
        workflowType: { name: 'any' },
        taskQueue: { name: workflowId },
      },
    },
  ]);
}

test('a watch continues where it was after refused polls and lost connections', async () => {
  const workflowId = await startUntaken();
  await signal(workflowId);
  const leave = watcher.follow(workflowId);
  await eventually('the history is read', () => watcher.events.includes(LONG_HISTORY));
  // Cancelled, deadline exceeded, internal, unavailable: what a frontend that restarts answers.
  for (const code of [1, 4, 13, 14]) {
    const before = watcher.failures;
    watcher.proxy.decide = ({ method }) => (method === POLL ? { code, message: 'restarting' } : undefined);
    watcher.proxy.disconnect();
    await eventually('a poll has failed', () => watcher.failures > before);
    watcher.proxy.decide = () => undefined;
    await watcher.expectWakes(workflowId);
  }
  expect(watcher.events).toHaveLength(LONG_HISTORY + 4);
  leave();
  await watcher.endPoll(workflowId);
});

/** Ends of a run that nobody watches. */
const ENDS: Record<string, (workflowId: string) => Promise<unknown>> = {
  'has ended, and another has begun': async (workflowId) => {
    await temporal.workflow.getHandle(workflowId).terminate();
    await startUntaken(workflowId);
  },
  'was deleted, and another has begun': async (workflowId) => {
    await temporal.workflowService.deleteWorkflowExecution({
      namespace: temporal.options.namespace,
      workflowExecution: { workflowId },
    });
    const describe = () => temporal.workflow.getHandle(workflowId).describe();
    await eventually('it is gone', () =>
      describe().then(
        () => false,
        () => true,
      ),
    );
    await startUntaken(workflowId);
  },
  'continued as new': continueAsNew,
  'was reset': async (workflowId) => {
    await completeTask(workflowId);
    await temporal.workflow.getHandle(workflowId).signal('noise');
    let isTaken = false;
    await resetBefore(temporal, workflowId, (event) => {
      isTaken ||= Boolean(event.workflowTaskCompletedEventAttributes);
      return isTaken && Boolean(event.workflowExecutionSignaledEventAttributes);
    });
  },
};

test.each(Object.entries(ENDS))(
  'a watch that continues at the place of a run that %s follows the current run',
  async (_name, end) => {
    const workflowId = await startUntaken();
    await watcher.visit(workflowId);
    await end(workflowId);
    watcher.events.length = 0;
    const leave = watcher.follow(workflowId);
    await eventually('the current run is read', () => watcher.events.includes(1));
    await watcher.expectWakes(workflowId);
    leave();
    await watcher.endPoll(workflowId);
  },
);

test('a second watch reads only what came after the first', async () => {
  const workflowId = await startUntaken();
  await signal(workflowId);
  const leave = watcher.follow(workflowId);
  await eventually('the history is read', () => watcher.events.includes(LONG_HISTORY));
  leave();
  await watcher.endPoll(workflowId);
  watcher.events.length = 0;
  const { changes } = watcher;
  const leaveAgain = watcher.follow(workflowId);
  await answer(workflowId);
  await eventually('the watcher is called', () => watcher.changes > changes);
  expect(watcher.events.filter((id) => id <= LONG_HISTORY)).toEqual([]);
  leaveAgain();
  await watcher.endPoll(workflowId);
});

test('a wait for the end follows a continue-as-new, and reads one event of each run', async () => {
  const workflowId = await startUntaken();
  await signal(workflowId);
  const handle = temporal.workflow.getHandle(workflowId);
  const read = async () => {
    const isOpen = (await handle.describe()).status.name === 'RUNNING';
    return { token: workflowId, status: isOpen ? 'working' : 'failed' } as OperationRecord;
  };
  watcher.proxy.record();
  const { signal: never } = new AbortController();
  const watch = watcher.watches.watch(workflowId, read, { signal: never, onlyEnd: true });
  expect((await watch.next()).value).toMatchObject({ status: 'working' });
  const end = watch.next();
  await eventually('it is polled', () => watcher.proxy.openPolls(POLL) > 0);
  await continueAsNew(workflowId);
  await eventually('the end of the first run is read', () => watcher.events.length > 0);
  await handle.terminate();
  expect((await end).value).toMatchObject({ status: 'failed' });
  await watch.return(undefined);
  // After the workflow task's start and completion; after the new run's start and first workflow task.
  expect(new Set(watcher.events)).toEqual(new Set([LONG_HISTORY + 3, 3]));
});

describe('of a server', () => {
  let stack: TestStack;
  let proxy: TemporalProxy;
  let events: HistoryEvent[] = [];
  beforeAll(async () => {
    proxy = await TemporalProxy.start(() => undefined);
    onEvents(proxy, (read) => events.push(...read));
    // Own server: a proxy counts its calls.
    stack = await TestStack.serverAlone({ ...COUNTED_PROJECT, TEMPORAL_ADDRESS: proxy.address });
    await stack.listening();
  });
  afterAll(async () => {
    await stack?.stop();
    await proxy?.close();
  });

  /** Starts an operation with a long history. From then on, events are counted. */
  async function startLong(tool: string): Promise<string> {
    const token = await stack.client.start(tool);
    await signal(token);
    proxy.record();
    events = [];
    return token;
  }

  /** Calls operation_get with `wait`, as a plain client. */
  async function waitFor(token: string, timeout: number, signal?: AbortSignal): Promise<any> {
    const call = { name: 'operation_get', arguments: { token, wait: true, timeout } };
    const { result } = await stack.client.with({}).request('tools/call', call, {}, signal);
    return result.structuredContent;
  }

  test('a second wait of a plain client reads no old event', async () => {
    const token = await startLong('counted');
    const gone = new AbortController();
    const first = waitFor(token, 600, gone.signal).catch(() => undefined);
    await eventually('the history is read', () => events.length >= LONG_HISTORY);
    gone.abort();
    await first;
    await eventually('its poll has ended', async () => {
      await temporal.workflow.getHandle(token).signal('noise');
      return proxy.openPolls(POLL) === 0;
    });
    events = [];
    const second = waitFor(token, 600);
    await eventually('it is polled', () => proxy.openPolls(POLL) > 0);
    await temporal.workflow.getHandle(token).terminate();
    expect(await second).toMatchObject({ status: 'failed' });
    const old = events.filter(({ eventId }) => Number(eventId) <= LONG_HISTORY);
    expect(old).toEqual([]);
  });

  /** Waits for the end of a long operation: its token, and the end. */
  const waits: Record<string, () => Promise<{ token: string; end: Promise<unknown> }>> = {
    'a wait of a plain client, for a tool that asks nothing,': async () => {
      const token = await startLong('watched');
      return { token, end: waitFor(token, 600) };
    },
    'tasks/result': async () => {
      const token = await startLong('counted');
      const session = await LegacyClient.open(`${stack.base}/mcp`, '2025-11-25', {});
      return { token, end: session.request('tasks/result', { taskId: token }) };
    },
  };
  test.each(Object.entries(waits))('%s reads one event of a run with 2,000', async (_name, wait) => {
    const { token, end } = await wait();
    const isPolled = () => (proxy.recordedCalls(token)[POLL] ?? 0) > 0;
    await eventually('it is polled', () => isPolled() && proxy.openPolls(POLL) > 0);
    await temporal.workflow.getHandle(token).terminate();
    expect(JSON.stringify(await end)).toContain('terminated');
    // The record has the reason from the same event.
    expect(new Set(events.map(({ eventId }) => Number(eventId)))).toEqual(new Set([LONG_HISTORY + 1]));
  });
});
