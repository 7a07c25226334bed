/** The audit log on a full disk: nothing that was written is damaged, and what is missing is counted. Needs root, for a tmpfs. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { AuditLog } from '../../mcp-server/audit/log/index.js';
import { selectAuditLines } from '../../mcp-server/audit/log/select.js';
import { createLogger } from '../../platform/observe/log.js';
import { eventually } from '../stack/cli-process.js';
import { temporaryFolder } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';

let disk: string;
let folder: string;
beforeEach(() => {
  disk = temporaryFolder('audit-disk');
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k,mode=0700', 'tmpfs', disk]);
  if (mounted.status !== 0)
    throw new Error(`a file system of its own needs root: ${mounted.stderr.toString()}`);
  folder = join(disk, 'audit');
  mkdirSync(folder);
});
afterEach(() => void spawnSync('umount', ['-l', disk]));

const quiet = createLogger('audit-test', 'silent');

function fill(): void {
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(bavail * bsize));
}
const free = () => rmSync(join(disk, 'ballast'));

function start(log: AuditLog, count: number): void {
  for (let index = 0; index < count; index++)
    log.append({ event: 'operation.start', operation: `op-${index}`, outcome: 'ok' });
}

/** Sequences of the lines in the files: consecutive from 1, unless one is damaged. */
const sequences = async () => (await selectAuditLines(folder, {})).map(({ sequence }) => sequence);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

test('lines wait in memory, and follow once there is room', async () => {
  const log = new AuditLog(folder, quiet);
  fill();
  start(log, 100);
  expect(log.isWritten).toBe(false);
  await expect(log.synced()).rejects.toThrow('the audit log cannot be written');
  // The page of the file has room for the beginning of a line, which is no damage.
  const written = await sequences();
  expect(written).toEqual(upTo(written.length));
  free();
  expect(log.isWritten).toBe(true);
  await log.close();
  expect(await sequences()).toEqual(upTo(102));
  expect(await selectAuditLines(folder, { event: 'log.gap' })).toEqual([]);
});

test('lines beyond the memory for them are counted in a line about the gap', async () => {
  const log = new AuditLog(folder, quiet, { largestFileBytes: 1e9, mostPendingBytes: 2_000 });
  fill();
  start(log, 100);
  free();
  start(log, 1);
  await log.close();
  const [gap] = await selectAuditLines(folder, { event: 'log.gap' });
  // The lines, without those of the log itself.
  const starts = await selectAuditLines(folder, { event: 'operation.start' });
  expect(await sequences()).toEqual(upTo(starts.length + 3));
  expect(starts.length + gap!.missing!).toBe(101);
  expect([gap!.from! <= gap!.to!, gap!.to! <= gap!.time]).toEqual([true, true]);
});

test('a log that begins on a full disk begins once there is room', async () => {
  rmSync(folder, { recursive: true });
  fill();
  const log = new AuditLog(folder, quiet);
  start(log, 1);
  free();
  start(log, 1);
  await log.close();
  expect(await sequences()).toEqual(upTo(4));
});

describe('a server with auditRequired', () => {
  let stack: TestStack;
  beforeEach(async () => {
    // Own server: its audit log is on the full disk.
    stack = await TestStack.serverOnSharedWorker({
      LONGHAUL_AUDIT_LOG: folder,
      LONGHAUL_AUDIT_REQUIRED: 'true',
    });
  });
  afterEach(() => stack?.stop());

  test('refuses changes until they can be recorded, logs why, and answers reads', async () => {
    const { client } = stack;
    const token = await client.start('slow_compute', { seconds: 0 });
    await client.until(token, 'completed');
    const recorded = await selectAuditLines(folder, { event: 'operation.start' });
    expect(recorded).toMatchObject([
      { outcome: 'attempted', tool: 'slow_compute' },
      { outcome: 'ok', operation: token, attempt: recorded[0]!.sequence },
    ]);
    fill();
    const { jobs } = stack;
    const refused = await eventually('the disk is full', async () => {
      const answer = await jobs.kickOff('slow_compute', { seconds: 0 });
      return answer.status >= 500 ? answer : undefined;
    });
    expect([refused.status, refused.body.type]).toEqual([503, '/problems/unavailable']);
    expect(stack.parts[0]!.output()).toContain('the audit log cannot be written');
    expect((await client.get(token)).status).toBe('completed');
    free();
    await eventually('changes are accepted again', async () => {
      const { status } = await jobs.kickOff('slow_compute', { seconds: 0 }, { prefer: 'respond-async' });
      return status < 300;
    });
  });
});
