/** The log of an operation, on every way to read it, and with several workers. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { run, start as startCommand } from '../cli/commands.js';
import { openEvents, loggedLines } from '../http-jobs/sse.js';
import type { Caller } from '../operation-tools/support.js';
import { eventually } from '../stack/cli-process.js';
import { JobsClient } from '../support/jobs.js';
import { PROCESSES_MS } from '../support/limits.js';
import type { TestStack } from '../support/test-stack.js';
import { behindTime, LogStack } from './support.js';

jest.setTimeout(PROCESSES_MS);
let logs: LogStack;
let parts: TestStack;
let caller: Caller;
let jobs: JobsClient;
beforeAll(async () => {
  logs = await LogStack.start();
  ({ parts, caller } = logs);
  jobs = new JobsClient(parts.base);
}, PROCESSES_MS);
afterAll(() => logs?.stop());

describe('the log of an operation', () => {
  test('says why each attempt of an activity failed, to the last line before the operation ends', async () => {
    const token = await caller.start('failing');
    expect(await caller.settled(token)).toMatchObject({ status: 'failed' });
    const { log } = await caller.get('operation_get', { token, view: 'logs' });
    expect(log.is_complete).toBe(true);
    expect(log.lines.map(({ text }: any) => behindTime(text))).toEqual([
      expect.stringMatching(/^WARN activity fail: Activity failed \{"error":"Error: attempt 1\\n +at fail /),
      expect.stringMatching(/^WARN activity fail: Activity failed \{"error":"Error: attempt 2\\n +at fail /),
      'INFO workflow failing: cleaned up',
    ]);
  });

  test('is read on every protocol, by its token, while the operation runs and after', async () => {
    const gate = logs.newGate();
    const token = await caller.start('chatter', { lines: 2, gate });
    const open_ = await eventually('its lines are there', async () => {
      const { log } = await caller.get('operation_get', { token, view: 'logs', tail: 1 });
      return log.lines[0]?.text.includes('psst') ? log : undefined;
    });
    expect(open_).toMatchObject({ step: 'operation', is_at_end: true, is_complete: false });

    const events = await openEvents(parts.base, token);
    const followed = startCommand(parts, ['logs', token, '--follow']);
    await eventually('followers have it', () => followed.stdout.includes('psst'));
    logs.open(gate);
    await caller.settled(token);
    const lines = await logs.logOf(token);
    expect(lines.at(-1)).toContain('the workflow ends');
    const text = lines.map((line) => `${line}\n`).join('');

    expect(await followed.ended).toMatchObject({ code: 0, stdout: text });
    for (const args of [[], ['operation']])
      expect(await run(parts, ['logs', token, ...args])).toMatchObject({ code: 0, stdout: text });
    expect((await run(parts, ['logs', token, '--pattern', ' WARN ', '--json'])).stdout).toMatch(
      /^\{"step":"operation","number":\d+,"text":"[^\n]*the workflow ends[^\n]*"\}\n$/,
    );

    expect(await events.ended).toBe(true);
    expect(loggedLines(events.events)['operation']!.map((line) => line.text)).toEqual(lines);
    expect(events.events.at(-1)!.event).toBe('result');
    const listed = (await jobs.get(`/v1/jobs/${token}/logs`)).body;
    expect(listed).toEqual({ log_url: `/v1/jobs/${token}/logs/operation`, steps: [], is_live: true });
    expect((await jobs.get(listed.log_url, { accept: 'text/plain' })).body).toBe(text);
    expect((await jobs.get(listed.log_url)).body).toMatchObject({
      step: 'operation',
      is_complete: true,
      lines: lines.map((line, index) => ({ number: index + 1, text: line })),
    });

    const uri = `longhaul://operations/${token}/logs/operation`;
    const { result } = await parts.client.request('resources/read', { uri });
    expect(result.contents[0]).toMatchObject({ uri, mimeType: 'text/plain', text });
    const found = await caller.get('operation_get', { token, view: 'logs', pattern: 'line [12] ' });
    expect(found.log.lines).toHaveLength(2);
  });

  test('sends a reader of events each line once, also one that reconnects', async () => {
    const gate = logs.newGate();
    const token = await caller.start('chatter', { lines: 300, gate });
    const first = await openEvents(parts.base, token);
    await eventually('some are sent', () => loggedLines(first.events)['operation']);
    first.close();
    const second = await openEvents(parts.base, token, first.lastId());
    logs.open(gate);
    await second.ended;
    const sent = [...first.events, ...second.events];
    expect(loggedLines(sent)['operation']!.map(({ number }) => number)).toEqual(
      Array.from({ length: 304 }, (_, index) => index + 1),
    );
  });

  test('is read without a worker, and is empty for an operation that has logged nothing', async () => {
    const quiet = await caller.start('quiet');
    await caller.settled(quiet);
    const gate = logs.newGate();
    const token = await caller.start('chatter', { lines: 1, gate });
    await eventually('its lines are there', async () => (await logs.logOf(token)).length === 4);
    for (const worker of logs.workers) await worker.end('SIGKILL');
    try {
      expect(await logs.logOf(token)).toHaveLength(4);
      expect((await caller.get('operation_get', { token: quiet, view: 'logs' })).log).toEqual({
        step: 'operation',
        lines: [],
        is_at_end: true,
        is_complete: true,
        total_bytes: 0,
      });
    } finally {
      parts.worker();
    }
    logs.open(gate);
    expect(await caller.settled(token)).toMatchObject({ status: 'completed' });
    expect((await logs.logOf(token)).at(-1)).toContain('the workflow ends');
  });

  test('has no cursor of another log, and no steps', async () => {
    const token = await logs.ended({ lines: 0 });
    const cursor = Buffer.from(JSON.stringify({ step: 'build/1', line: 1, offset: 0 })).toString('base64url');
    const args = { token, view: 'logs', step: 'operation', cursor };
    await caller.refused('operation_get', args, 'invalid_arguments', 'cursor: belongs to the step build/1');
    await caller.refused(
      'operation_get',
      { token, view: 'logs', step: 'build' },
      'not_found',
      'no steps are known; only pipelines have steps with logs. The operation\'s own log is the step "operation"',
    );
    expect((await run(parts, ['logs', token, 'build/1'])).code).toBe(4);
  });

  test('is deleted with the operation', async () => {
    const token = await logs.ended({ lines: 1 });
    expect(await logs.logOf(token)).toHaveLength(5);
    await caller.get('operation_delete', { token });
    await caller.refused('operation_get', { token, view: 'logs' }, 'not_found', 'not found');
    expect((await jobs.get(`/v1/jobs/${token}/logs/operation`)).status).toBe(404);
    expect(existsSync(join(logs.folder, 'home/storage/logs', token))).toBe(false);
  });
});

describe('several workers', () => {
  test('write one log: no line is missing, twice or torn, and a reader follows it', async () => {
    const second = parts.worker();
    await eventually('both run', () => second.output().includes('worker runs'));
    const token = await caller.start('chatter', { lines: 50, speakers: 16, pauseMs: 10 });
    const events = await openEvents(parts.base, token);
    const done = await caller.settled(token);
    expect(done).toMatchObject({ status: 'completed' });
    const lines = await logs.logOf(token);
    const spoken = lines.filter((line) => line.includes('line '));
    const keys = spoken.map((line) =>
      /line (\d+) \{"speaker":(\d+),"process":\d+\}$/.exec(line)!.slice(1).join('/'),
    );
    expect(new Set(keys).size).toBe(800);
    expect(keys).toHaveLength(800);
    // Both have taken part.
    expect(new Set(spoken.map((line) => /"process":(\d+)/.exec(line)![1])).size).toBe(2);
    await events.ended;
    expect(loggedLines(events.events)['operation']!.map(({ text }) => text)).toEqual(lines);
    // By time, but for the moment for which each worker collects lines.
    const times = lines.map((line) => Date.parse(line.slice(0, 24)));
    let latest = 0;
    for (const time of times) {
      expect(time).toBeGreaterThan(latest - 5_000);
      latest = Math.max(latest, time);
    }
  });
});
