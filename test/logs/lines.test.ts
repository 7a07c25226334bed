/** The log of an operation: its lines, every way to read it, and several workers. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { run, start as startCommand } from '../cli/commands.js';
import { openEvents, loggedLines } from '../http-jobs/sse.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { behindTime, LogStack } from './support.js';

const logs = await forAllTests(LogStack.start());
const { parts, caller } = logs;
const { jobs } = parts;

describe('lines of workflows and activities', () => {
  let token: string;
  beforeAll(async () => {
    token = await logs.ended({ lines: 2, part: 'north' });
  });

  test('are in the log of their operation, with time, level, source, message and attributes', async () => {
    const lines = (await logs.logOf(token))
      .map(behindTime)
      .map((line) => line.replace(/"process":\d+/, '"process":0'));
    expect(lines.slice(0, 2)).toEqual([
      'INFO workflow chatter: the workflow begins {"lines":2}',
      'DEBUG workflow chatter: a detail',
    ]);
    expect(lines.slice(2, -2).sort()).toEqual([
      'ERROR workflow chatter_part (north): the part begins',
      'INFO activity speak (north): line 1 {"speaker":0,"process":0}',
      'INFO activity speak (north): line 2 {"speaker":0,"process":0}',
      'INFO activity speak: line 1 {"speaker":0,"process":0}',
      'INFO activity speak: line 2 {"speaker":0,"process":0}',
    ]);
    expect(lines.slice(-2)).toEqual([
      'DEBUG activity whisper: psst',
      'WARN workflow chatter: the workflow ends {"token":"of the author","nested":{"lines":2}}',
    ]);
  });

  test("are in the worker's log at their own level, with token and tool", async () => {
    const found = (msg: string) =>
      logs.workers
        .flatMap((worker) => worker.output().split('\n'))
        .filter((line) => line.includes(token) && line.endsWith('}'))
        .map((line) => JSON.parse(line))
        .filter((line) => line.msg === msg);
    // The SDK holds activities' lines back for a moment.
    await eventually('all are written', () => found('line 2').length === 2);
    expect(found('the workflow begins')).toEqual([
      expect.objectContaining({ level: 30, token, tool: 'chatter', workflowId: token, lines: 2 }),
    ]);
    expect(found('the workflow ends')).toEqual([
      expect.objectContaining({ level: 40, token, tool: 'chatter' }),
    ]);
    expect(found('the part begins')).toEqual([
      expect.objectContaining({ level: 50, token, tool: 'chatter', workflowId: `${token}.north` }),
    ]);
    expect(found('line 1')).toHaveLength(2);
    for (const line of found('line 1'))
      expect(line).toMatchObject({ level: 30, token, tool: 'chatter', activityType: 'speak' });
    // The worker's level is `info`.
    expect(found('a detail')).toEqual([]);
  });

  test('add no event to the history', async () => {
    const { workflow } = await parts.temporal();
    const events = async (id: string) => (await workflow.getHandle(id).fetchHistory()).events!.length;
    expect(await events(await logs.ended({ lines: 100 }))).toBe(await events(await logs.ended({ lines: 0 })));
  });

  test('have values shown that have no JSON, and never fail the work', async () => {
    const lines = (await logs.logOf(await logs.ended({ lines: 0, odd: true }))).map(behindTime);
    const [first, round, object, getter] = lines.filter((line) => line.includes('speakOddly'));
    expect(first).toContain(
      'INFO activity speakOddly: first\\nsecond {"big":"12n","error":"Error: of the author\\n',
    );
    expect(first).toContain('"work":"[Function: work]"}');
    expect(round).toContain('INFO activity speakOddly: round "');
    expect(round).toContain('[Circular *1]');
    expect(object).toContain("INFO activity speakOddly: { not: 'a text' }");
    expect(getter).toMatch(/^INFO activity speakOddly: getter/);
  });

  test('are cut when they are longer than 8 KiB', async () => {
    const lines = await logs.logOf(await logs.ended({ lines: 1, wide: 20_000 }));
    const line = lines.find((one) => one.includes('xxx'))!;
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(8192);
    expect(line).toMatch(/x \.\.\. \(20\d{3} bytes\)$/);
  });

  test('that come without pause do not stop the worker, whose log leaves some out and says so', async () => {
    const token = await logs.ended({ lines: 10_000 });
    const { log } = await caller.get('operation_get', { token, view: 'logs', pattern: 'line 5000 ' });
    expect(log.lines).toHaveLength(1);
    const output = () => logs.workers.map((worker) => worker.output()).join('');
    const report = await eventually('the worker says so', () =>
      /\{[^\n]*operations logged too fast[^\n]*\}/.exec(output()),
    );
    const { level, count } = JSON.parse(report[0]);
    expect(level).toBe(40);
    expect(count).toBeGreaterThan(0);
    const written = output()
      .split('\n')
      .filter((line) => line.includes(token) && line.includes('"line '));
    expect(written).not.toEqual([]);
    expect(written.length).toBeLessThan(10_000);
  });

  test('of a workflow have any attributes', async () => {
    const token = await caller.start('odd_workflow');
    expect(await caller.settled(token)).toMatchObject({ status: 'completed' });
    expect((await logs.logOf(token)).map(behindTime)).toEqual([
      expect.stringMatching(/^INFO workflow odd_workflow: odd \{"work":"\(\) ?=> ?1","big":"12n",/),
      'WARN workflow odd_workflow: round {"name":"circle","self":"[circular]","list":[["key",1]]}',
      'ERROR workflow odd_workflow: getter {"broken":"[Error: no value]"}',
    ]);
  });
});

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

test('several workers write one log: no line is missing, twice or torn, and a reader follows it', async () => {
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
