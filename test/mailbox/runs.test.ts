/**
 * Continue-as-new, replay and killed workers: an inbox continues as new well before Temporal's limits and loses nothing, and all runs
 * replay.
 */
import { resolve } from 'node:path';
import { Runtime, Worker } from '@temporalio/worker';
import { beforeAll, expect, test } from '@jest/globals';
import { jsonBytes } from '../../mailbox/json-size.js';
import { INBOX_LIMIT, INLINE_LIMIT_BYTES } from '../../mailbox/limits.js';
import { MAILBOX_MEMO, takeUpdate } from '../../mailbox/wire.js';
import { eventually } from '../stack/cli-process.js';
import { afterAllTests, afterThisTest, forAllTests, inSetUp } from '../support/for-all-tests.js';
import { runsOf } from '../support/runs-of.js';
import { FIXTURES, TestStack } from '../support/test-stack.js';
import { join, longWait, messageOf, newPrincipal, once, openMailbox, toOne, workflowId } from './support.js';

/** Registrations of one name; the whole ten thousand take a minute and a half. */
const REGISTRATIONS = Number(process.env['LONGHAUL_REGISTRATIONS'] ?? 300);
/** More events than a run of a few changes has, with 5 or 6 for each change during its minimum time. */
const BOUND = 1_200;

Runtime.install({
  logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  shutdownSignals: [],
});
// A stack of its own: its worker is killed.
const parts = await forAllTests(TestStack.start());
const server = await inSetUp(openMailbox(parts, { continueAfterChanges: 8 }));
afterAllTests(() => server.temporal.close());

let codePath: string;
beforeAll(async () => {
  const built = (name: string) => import(resolve('dist', name));
  const { loadSettings } = await built('platform/settings/index.js');
  const { bundleWorkflows } = await built('worker/versions/bundle.js');
  ({ codePath } = await bundleWorkflows(await loadSettings({ project: FIXTURES })));
});

/** Histories of all runs of a workflow, latest first. */
const historiesOf = async (id: string) =>
  (await runsOf(await parts.temporal(), id)).map(({ history }) => history);

test('under load, over many runs and a killed worker, nothing is lost, doubled or out of order', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'busy', { capabilities: ['x'] });
  const senders = ['s1', 's2', 's3'];
  const each = 10;
  let isSent = false;
  const sending = Promise.all([
    ...senders.map(async (from) => {
      for (let count = 0; count < each; count += 1)
        await insistently(() =>
          server.mailbox.send(who, {
            to: { names: ['busy'] },
            content: `${from} ${count}`,
            mode: 'm',
            from: { name: from },
            idempotencyKey: `${count}`,
          }),
        );
    }),
    (async () => {
      for (let count = 0; count < each; count += 1)
        await insistently(() =>
          server.mailbox.send(who, {
            to: { anyone: { capability: 'x' } },
            content: `anyone ${count}`,
            mode: 'm',
            idempotencyKey: `${count}`,
          }),
        );
    })(),
  ]).finally(() => (isSent = true));
  const got: string[] = [];
  const isComplete = () => isSent && got.length >= (senders.length + 1) * each;
  let idleCount = 0;
  let ack: string | undefined;
  for (;;) {
    const options = longWait({
      timeoutMs: isComplete() ? 1_500 : 20_000,
      ...(ack === undefined ? {} : { ack }),
    });
    const received = await server.mailbox.receive(who, agent, options);
    // A wait may end while no worker is there.
    if (received.kind === 'idle' && (isComplete() || (idleCount += 1) > 5)) break;
    if (received.kind !== 'message') continue;
    if (received.message.messageId !== ack) got.push(received.message.content);
    ack = received.message.messageId;
    if (got.length === 10) {
      await parts.parts[1]!.end('SIGKILL');
      parts.worker();
    }
  }
  await sending;
  expect(got).toHaveLength((senders.length + 1) * each);
  for (const from of [...senders, 'anyone'])
    expect(got.filter((one) => one.startsWith(`${from} `))).toEqual(
      from === 'anyone'
        ? expect.arrayContaining(Array.from({ length: each }, (_, count) => `anyone ${count}`))
        : Array.from({ length: each }, (_, count) => `${from} ${count}`),
    );
  for (const what of ['inbox:busy', 'directory']) {
    const runs = await historiesOf(workflowId(parts, who, what));
    expect(runs.length).toBeGreaterThan(1);
    for (const run of runs) {
      expect(run.events!.length).toBeLessThan(BOUND);
      await Worker.runReplayHistory({ workflowBundle: { codePath } }, run, what);
    }
  }
});

test('a name that is registered again and again leaves a bounded history, and one line in the directory', async () => {
  const who = newPrincipal();
  const usual = await openMailbox(parts, { continueAfterChanges: 20 });
  afterThisTest(() => usual.temporal.close());

  const registration = { name: 'again', type: 'test', capabilities: [] };
  const first = await usual.mailbox.register(who, registration);
  const lanes = Array.from({ length: 4 }, async (_, lane) => {
    for (let count = lane; count < REGISTRATIONS; count += 4) await usual.mailbox.register(who, registration);
  });
  await Promise.all(lanes);
  expect(await usual.mailbox.receive(who, first.agentId, once())).toEqual({ kind: 'gone' });
  expect((await usual.mailbox.status(who)).agents).toHaveLength(1);
  const lengths = (await historiesOf(workflowId(parts, who, 'inbox:again'))).map(
    ({ events }) => events!.length,
  );
  // A single run would have over 1,500.
  expect(Math.max(...lengths)).toBeLessThan(BOUND);
  expect((await historiesOf(workflowId(parts, who, 'directory')))[0]!.events!.length).toBeLessThan(10);
}, 900_000);

test('a full inbox carries less than 1 MiB from run to run', async () => {
  const who = newPrincipal();
  const content = 'x'.repeat(INLINE_LIMIT_BYTES - 2);
  const context = 'y'.repeat(1_000);
  await Promise.all(
    Array.from({ length: INBOX_LIMIT }, () =>
      server.mailbox.send(who, { to: { names: ['full'] }, content, context, mode: 'm'.repeat(64) }),
    ),
  );
  const id = workflowId(parts, who, 'inbox:full');
  await eventually('it continued as another run', async () => {
    await join(server, who, 'full');
    return (await historiesOf(id)).length > 1;
  });
  const { queue } = await server.temporal.client.workflow.getHandle(id).query<{ queue: unknown[] }>('queue');
  expect(queue).toHaveLength(INBOX_LIMIT);
  // With the limits of the other parts: 20 responses, 200 outcomes of up to 1.3 KiB, 1,000 short IDs with digests, dead
  // letters, and a report.
  const message = jsonBytes(queue[0]);
  const rest = 200 * 1_300 + 1_000 * 27 + 80 * 1024 + 1_100;
  expect(message * (INBOX_LIMIT + 20) + rest).toBeLessThan(1024 * 1024);
});

test('a refused update, which leaves no history, decides nothing: what runs replays', async () => {
  const who = newPrincipal();
  const handle = (what: string) => server.temporal.client.workflow.getHandle(workflowId(parts, who, what));
  const eager = await openMailbox(parts, { continueAfterChanges: 1 });
  try {
    // One change at the start of each run: enough to continue as new, but before the minimum time of a run.
    await eager.mailbox.send(who, {
      to: { names: ['refuser'] },
      content: 'a',
      mode: 'm',
      idempotencyKey: '1',
    });
    await eager.mailbox.send(who, {
      to: { anyone: { type: 'other' } },
      content: 'b',
      mode: 'm',
      idempotencyKey: '2',
    });
  } finally {
    await eager.temporal.close();
  }
  const [queued] = (await handle('inbox:refuser').query<{ queue: object[] }>('queue')).queue;
  await new Promise((settle) => setTimeout(settle, 1_500));
  for (const [what, update, args] of [
    ['inbox:refuser', 'put', queued],
    [
      'directory',
      'claim',
      { name: 'nobody', registration: { name: 'nobody', type: 'test', capabilities: [] } },
    ],
  ] as const) {
    const { runId } = await handle(what).describe();
    await expect(handle(what).executeUpdate(update, { args: [args] })).rejects.toThrow();
    expect((await handle(what).describe()).runId).toBe(runId);
  }
  await server.mailbox.send(who, { to: { names: ['refuser'] }, content: 'c', mode: 'm' });
  await server.mailbox.send(who, { to: { anyone: {} }, content: 'd', mode: 'm' });
  for (const what of ['inbox:refuser', 'directory']) {
    const runs = await eventually('it continued as another run', async () => {
      const all = await historiesOf(workflowId(parts, who, what));
      return all.length > 1 ? all : undefined;
    });
    for (const run of runs) await Worker.runReplayHistory({ workflowBundle: { codePath } }, run, what);
  }
});

test('a message that no agent has acknowledged outlasts the killed worker, and the wait delivers it again', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'patient');
  const { messageId } = await server.mailbox.send(who, toOne('patient', 'survives'));
  expect(messageOf(await server.mailbox.receive(who, agent, once())).messageId).toBe(messageId);
  await parts.parts[1]!.end('SIGKILL');
  const waiting = server.mailbox.receive(who, agent, longWait({ timeoutMs: 120_000 }));
  parts.worker();
  expect(messageOf(await waiting)).toMatchObject({ messageId, content: 'survives' });
});

test('waits that gave up while no worker ran count as one delivery', async () => {
  const who = newPrincipal();
  const agent = await join(server, who, 'patient');
  const { messageId } = await server.mailbox.send(who, { ...toOne('patient', 'once'), maxDeliveries: 3 });
  const temporal = await parts.temporal();
  const inbox = temporal.workflow.getHandle(workflowId(parts, who, 'inbox:patient'));
  await parts.parts[1]!.end('SIGKILL');
  const { epoch } = (await inbox.describe()).memo![MAILBOX_MEMO] as { epoch: number };
  // Waits leave updates behind whose callers are gone.
  const given = await Promise.allSettled(
    Array.from({ length: 6 }, () =>
      temporal.connection.withDeadline(Date.now() + 2_000, () =>
        inbox.executeUpdate(takeUpdate, { args: [{ epoch, leaseMs: 1_000, after: 0 }] }),
      ),
    ),
  );
  expect(given.map(({ status }) => status)).toEqual(Array(6).fill('rejected'));
  parts.worker();
  const received = messageOf(await server.mailbox.receive(who, agent, longWait({ timeoutMs: 120_000 })));
  expect(received).toMatchObject({ messageId, content: 'once' });
  expect(received.delivery).toBeLessThanOrEqual(2);
});

/** Repeats a send with the same message until it is accepted. */
async function insistently(send: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await send();
      return;
    } catch (error) {
      if (!(error as { retryable?: boolean }).retryable) throw error;
    }
  }
}
