import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WorkflowNotFoundError } from '@temporalio/client';
import { temporaryPath } from '../../platform/home/atomic-files.js';
import { artifactKey, mailboxKey, payloadKey, stepLogPrefix } from '../../platform/storage/keys.js';
import { folderStorage, openStorage, type Storage } from '../../platform/storage/index.js';
import { LEASE_RANGE_SECONDS, REPLIES_KEPT_MS, TTL_LIMIT_SECONDS } from '../../mailbox/limits.js';
import { sweepStorage, UNCHANGED_LIMIT_MS } from '../../worker/process/sweep-storage.js';
import { documents, run } from '../cli/commands.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests, inSetUp, temporaryFolder } from '../support/for-all-tests.js';
import { OUTAGE_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';

const parts = await forAllTests(TestStack.shared());
const temporal = await parts.temporal();
const gone = await inSetUp(purged());

const later = () => Date.now() + UNCHANGED_LIMIT_MS + 60_000;

const newStorage = () => folderStorage(mkdtempSync(join(tmpdir(), 'longhaul-sweep-')));

async function keysOf(storage: Storage, prefix?: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of storage.list(prefix)) keys.push(key);
  return keys.sort();
}

/** Values that an operation may have in storage. */
const valuesOf = (workflowId: string) => [
  artifactKey(workflowId, 'site/index.html'),
  artifactKey(workflowId, 'report.csv'),
  `${stepLogPrefix(workflowId, 'build', 1)}0`,
  payloadKey(workflowId, 'a'.repeat(64)),
];

async function purged(): Promise<string> {
  const workflowId = await parts.client.start('slow_compute', { seconds: 0 });
  await parts.client.until(workflowId, 'completed');
  const { namespace } = temporal.options;
  await temporal.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } });
  const isPurged = () =>
    temporal.workflow
      .getHandle(workflowId)
      .describe()
      .then(
        () => false,
        (error: unknown) => error instanceof WorkflowNotFoundError,
      );
  // Temporal deletes in the background: half a minute later, and more while other tests keep it busy.
  await eventually('it is purged', isPurged, OUTAGE_MS);
  return workflowId;
}

test('values of purged workflows are removed once nothing was added for long; all others stay', async () => {
  const storage = newStorage();
  const alsoGone = `never~known/${randomUUID()}`;
  const closed = await parts.client.start('slow_compute', { seconds: 0 });
  await parts.client.until(closed, 'completed');
  const running = await parts.client.start('slow_compute', { seconds: 600 });
  const stays = [...valuesOf(closed), ...valuesOf(running), payloadKey(undefined, 'b'.repeat(64))];
  for (const key of [...valuesOf(gone), ...valuesOf(alsoGone), ...stays])
    await storage.put(key, Buffer.from('x'));

  expect(await sweepStorage(storage, temporal)).toBe(0);
  expect(await keysOf(storage)).toHaveLength(4 + 4 + stays.length + 1);
  expect(await sweepStorage(storage, temporal, later())).toBe(2);
  expect((await keysOf(storage)).filter((key) => !key.startsWith('namespaces/'))).toEqual(stays.sort());
  expect(await sweepStorage(storage, temporal, later())).toBe(0);
  await parts.client.request('tasks/cancel', { taskId: running });
});

test('long IDs are swept by their beginning and hash, and stay while Temporal knows them', async () => {
  const storage = newStorage();
  const long = (what: string) => `arn:aws:states:${what}:${'/x'.repeat(70)}:${randomUUID()}`;
  const [known, unknown] = [long('known'), long('unknown')];
  await temporal.workflow.start('slow_compute', {
    workflowId: known,
    taskQueue: `nobody-${randomUUID()}`,
    args: [{}],
  });
  await eventually('Temporal lists it', async () => {
    for await (const { workflowId } of temporal.workflow.list({ query: `WorkflowId = '${known}'` }))
      return workflowId === known;
    return false;
  });
  for (const key of [...valuesOf(known), ...valuesOf(unknown)]) await storage.put(key, Buffer.from('x'));
  expect(await sweepStorage(storage, temporal, later())).toBe(1);
  for (const key of valuesOf(known)) expect(await storage.size(key)).toBe(1);
  for (const key of valuesOf(unknown)) expect(await storage.size(key)).toBeUndefined();
  await temporal.workflow.getHandle(known).terminate();
});

test('a folder in storage whose name no code of Longhaul made is left alone', async () => {
  const storage = newStorage();
  await storage.put('artifacts/%zz/x', Buffer.from('x'));
  expect(await sweepStorage(storage, temporal, later())).toBe(0);
  expect(await storage.size('artifacts/%zz/x')).toBe(1);
});

test('texts of messages are removed once no message can be so old', async () => {
  expect(UNCHANGED_LIMIT_MS).toBeGreaterThan(
    (TTL_LIMIT_SECONDS + LEASE_RANGE_SECONDS[1]) * 1000 + REPLIES_KEPT_MS,
  );
  const storage = newStorage();
  const key = mailboxKey('mailbox:1:', 'somebody~1', 'content');
  await storage.put(key, Buffer.from('x'));
  await sweepStorage(storage, temporal);
  expect(await storage.size(key)).toBe(1);
  await sweepStorage(storage, temporal, later());
  expect(await storage.size(key)).toBeUndefined();
});

test('storage that another namespace has used is left as it is', async () => {
  const storage = newStorage();
  for (const key of valuesOf(gone)) await storage.put(key, Buffer.from('x'));
  await storage.put(`namespaces/${randomUUID()}`, Buffer.from('default'));
  expect(await sweepStorage(storage, temporal, later())).toBe(0);
  for (const key of valuesOf(gone)) expect(await storage.size(key)).toBe(1);
});

test("large arguments and results are stored with their operation's other values", async () => {
  const storage = openStorage({ home: process.env['LONGHAUL_HOME']! });
  const [textLength, resultBytes] = [500_000, 400_000];
  const text = randomUUID() + 't'.repeat(textLength);
  const workflowId = await parts.client.start('large_values', { text, resultBytes });
  await parts.client.until(workflowId, 'completed');
  const keys = await keysOf(storage, payloadKey(workflowId, ''));
  const sizes = await Promise.all(keys.map(async (key) => (await storage.size(key))!));
  expect(sizes.filter((size) => size > textLength)).toHaveLength(1);
  expect(sizes.filter((size) => size > resultBytes && size < textLength).length).toBeGreaterThan(0);
});

test('longhaul gc shows what the sweeps would remove, then removes it, and nothing of open operations', async () => {
  const home = temporaryFolder('gc');
  const storage = openStorage({ home });
  const open = await parts.client.start('confirm_delete', { filename: 'kept.txt' });
  const old = new Date(Date.now() - UNCHANGED_LIMIT_MS - 60_000);
  const age = (path: string) => utimesSync(path, old, old);
  for (const key of [...valuesOf(gone), ...valuesOf(open), mailboxKey('ada', '1', 'content')]) {
    await storage.put(key, Buffer.from('0123456789'));
    age(join(home, 'storage', key));
  }
  for (const workflowId of [gone, open]) {
    mkdirSync(join(home, 'workspaces', workflowId), { recursive: true });
    const owner = JSON.stringify({ workflowId, namespace: 'default' });
    writeFileSync(join(home, 'workspaces', workflowId, 'operation.json'), owner);
  }
  const temporary = temporaryPath(join(home, 'cache.json'));
  writeFileSync(temporary, 'half');
  age(temporary);
  const all = () => readdirSync(home, { recursive: true }).sort();
  const before = all();

  const gc = (...args: string[]) => run(parts, ['gc', ...args], { environment: { LONGHAUL_HOME: home } });
  const [plan] = documents<any>(await gc('--dry-run', '--json', '--verbose'));
  expect(plan.totals).toEqual([
    { kind: 'mailbox', count: 1, bytes: 10 },
    { kind: 'values', count: 1, bytes: 40 },
    { kind: 'workspace', count: 1, bytes: expect.any(Number) },
    { kind: 'temporary', count: 1, bytes: 4 },
  ]);
  expect(plan.items[1]).toMatchObject({ name: gone, reason: expect.stringContaining("doesn't know") });
  expect([...plan.items[1].keys].sort()).toEqual(valuesOf(gone).sort());
  expect(all()).toEqual(before);

  const unreachable = await run(parts, ['gc'], {
    environment: { LONGHAUL_HOME: home, TEMPORAL_ADDRESS: '127.0.0.1:9' },
  });
  expect([unreachable.code, all()]).toEqual([3, before]);

  const { code, stdout } = await gc();
  expect([code, stdout]).toEqual([0, expect.stringContaining('removed 1 of values')]);
  expect(stdout).toContain(`workspace ${gone}: Temporal doesn't know the operation`);
  expect(await keysOf(storage, 'artifacts/')).toEqual(valuesOf(open).slice(0, 2).sort());
  expect(readdirSync(join(home, 'workspaces'))).toEqual([open]);
  expect(existsSync(temporary)).toBe(false);
  expect((await gc('--dry-run')).stdout).toBe(`nothing to remove in ${home}\n`);
  await parts.client.request('tasks/cancel', { taskId: open });
});
