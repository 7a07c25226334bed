/** Lines of workflows and activities: in the log of their operation, and in the worker's. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Caller } from '../operation-tools/support.js';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import type { TestStack } from '../support/test-stack.js';
import { behindTime, LogStack } from './support.js';

jest.setTimeout(PROCESSES_MS);
let logs: LogStack;
let parts: TestStack;
let caller: Caller;
beforeAll(async () => {
  logs = await LogStack.start();
  ({ parts, caller } = logs);
}, PROCESSES_MS);
afterAll(() => logs?.stop());

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

  test('that come faster than they can be written are counted where they are missing', async () => {
    const token = await logs.ended({ lines: 300, wide: 7_000 });
    const query = { token, view: 'logs', pattern: '^--- ' };
    const { log } = await caller.get('operation_get', query);
    const [missing, ...others] = log.lines.map(({ text }: any) => text);
    expect(others).toEqual([]);
    const [, count] = /^--- (\d+) lines are missing: they came faster than they could be written$/.exec(
      missing,
    )!;
    const page = await caller.get('operation_get', { token, view: 'logs', tail: 1 });
    // Two of the workflow before, the notice, one of the last activity and one of the workflow after.
    expect(page.log.lines[0].number).toBe(300 - Number(count) + 5);
    expect(page.log.lines[0].text).toContain('the workflow ends');
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
