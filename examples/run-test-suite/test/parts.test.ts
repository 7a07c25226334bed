/** Lines, reports, and the processes of an earlier attempt. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { junitXml } from '../lib/junit.js';
import { linesOf } from '../lib/lines.js';
import { mergeRuns } from '../lib/merge.js';
import { endEarlierAttempt } from '../lib/process-group.js';
import type { Status } from '../lib/types.js';
import { makeRoot } from './suites.js';

test('lines are cut at the limit, also between reads and within a character', async () => {
  const bytes = Buffer.from('short\r\nüü\n12345678901234567890\nlast');
  const reads = Array.from({ length: bytes.length }, (_, at) => bytes.subarray(at, at + 1));
  const lines: string[] = [];
  for await (const line of linesOf(Readable.from(reads), 10)) lines.push(line);
  assert.deepEqual(lines, ['short', 'üü', '1234567890 [10 more characters]', 'last']);
});

test('a test that failed and passed is flaky', () => {
  const result = (run: string, outcomes: Record<string, Status>) => ({
    run,
    shard: '1/1',
    notes: [],
    ms: 0,
    tests: Object.entries(outcomes).map(([name, status]) => ({
      file: 'a',
      name,
      status,
      ms: 1,
      message: run,
    })),
  });
  const merged = mergeRuns([
    result('1', { one: 'failed', two: 'failed', three: 'passed', four: 'skipped' }),
    result('rerun 1', { one: 'passed', two: 'failed' }),
  ]);
  assert.deepEqual(
    merged.map(({ name, outcomes, verdict, message }) => [name, outcomes, verdict, message]),
    [
      ['one', 'FP', 'flaky', '1'],
      ['two', 'FF', 'failed', '1'],
      ['three', 'P', 'passed', undefined],
      ['four', 'S', 'skipped', undefined],
    ],
  );
});

test('names and messages can not break the report', () => {
  const evil = 'a"<b>&\u0000\u001b]]>\ud800\n\u{1f600}';
  const xml = junitXml(
    [{ file: evil, name: evil, outcomes: 'F', verdict: 'failed', ms: 1500, message: evil }],
    [{ run: '1', shard: '1/2', kind: 'hung', message: evil, running: [], lastLines: [evil] }],
  );
  const written = 'a&quot;&lt;b&gt;&amp;\ufffd\ufffd]]&gt;\ufffd&#10;\u{1f600}';
  assert.ok(
    xml.includes(`<testcase classname="${written}" name="${written}" time="1.500"><failure message="`),
  );
  assert.ok(xml.includes('<error type="hung"'));
  // eslint-disable-next-line no-control-regex
  assert.doesNotMatch(xml, /[\u0000-\u0008\u001b]|\ud800(?![\udc00-\udfff])/);
});

test('processes of an earlier attempt are ended, and those of others are left alone', async () => {
  const folder = await makeRoot();
  const start = (marker: string) =>
    spawn('sleep', ['600'], {
      detached: true,
      stdio: 'ignore',
      env: { ...process.env, TEST_RUN_MARKER: marker },
    });
  const [earlier, other] = [start(`${folder}/1`), start(`${folder}/10`)];
  try {
    const gone = new Promise((resolve) => earlier.once('exit', (_code, signal) => resolve(signal)));
    const record = join(folder, 'record.json');
    // Its PID is another process's by now.
    await writeFile(record, JSON.stringify({ pid: other.pid, startedAt: 'Thu Jan  1 00:00:00 1970' }));
    if (process.platform !== 'linux') return;
    assert.equal(await endEarlierAttempt(`${folder}/1`, record), 1);
    assert.equal(await gone, 'SIGKILL');
    assert.ok(other.exitCode === null && other.signalCode === null);
    assert.equal(await endEarlierAttempt(`${folder}/1`, record), 0);
  } finally {
    earlier.kill('SIGKILL');
    other.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
});
