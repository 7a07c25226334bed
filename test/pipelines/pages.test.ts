/** Jobs with so many items that they run in pages: child workflows with histories of their own. */
import { describe, expect, jest, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { OUTAGE_MS } from '../support/limits.js';
import { resetBefore, type HistoryEvent } from '../support/reset-workflow.js';
import { LEDGER, PipelineProject, textOf } from './support.js';

jest.setTimeout(OUTAGE_MS);

const SQUARES = `
concurrency: 6
inputs: { properties: { items: { type: array }, ledger: { type: string } }, required: [items, ledger] }
outputs: { squares: { value: square.square, type: integer }, last: { value: after.last, type: integer } }
jobs:
  square:
    for-each: items
    outputs: [square]
    steps:
      - run: |
          echo + >> "$INPUT_LEDGER"
          echo "square=$((LONGHAUL_ITEM * LONGHAUL_ITEM))" >> "$LONGHAUL_OUTPUT"
          echo - >> "$INPUT_LEDGER"
  after:
    needs: [square]
    outputs: [last]
    steps: [{ run: 'echo "last=1" >> "$LONGHAUL_OUTPUT"' }]
`;

const ASKING = `
concurrency: 3
${LEDGER.replace('ledger: { type: string }', 'ledger: { type: string }\n    items: { type: array }')}
jobs:
  deploy:
    for-each: items
    steps:
      - { name: agree, approval: { message: 'Deploy?' } }
      - { name: deploy, run: 'echo "deployed $LONGHAUL_ITEM" >> "$INPUT_LEDGER"; sleep 600' }
      - { name: tidy, if: always, run: 'echo "tidied $LONGHAUL_ITEM" >> "$INPUT_LEDGER"' }
`;

/** Steps that count as events of history, of which none runs: 60 items need pages. */
const NEVER = Array.from(
  { length: 20 },
  (_, at) => `      - { name: never ${at}, if: failure, run: 'false' }`,
).join('\n');

const PAGED = `
concurrency: 8
inputs: { properties: { items: { type: array }, ledger: { type: string } }, required: [items, ledger] }
outputs: { done: { value: each.done, type: integer } }
jobs:
  first:
    steps: [{ name: one, run: 'echo one >> "$INPUT_LEDGER"' }]
  each:
    needs: first
    for-each: items
    outputs: [done]
    steps:
      - name: work
        run: |
          echo "start $LONGHAUL_ITEM" >> "$INPUT_LEDGER"
          if [ "$LONGHAUL_ITEM" = 0 ]; then
            mkdir "$INPUT_LEDGER.lock" || echo overlap >> "$INPUT_LEDGER"
            trap 'sleep 1; rmdir "$INPUT_LEDGER.lock"; exit 1' TERM
            until [ -e "$INPUT_LEDGER.go" ]; do sleep 0.1; done
          fi
          echo "done $LONGHAUL_ITEM" >> "$INPUT_LEDGER"
          echo "done=$LONGHAUL_ITEM" >> "$LONGHAUL_OUTPUT"
${NEVER}
  after:
    needs: each
    steps:
      - { name: last, run: 'echo last >> "$INPUT_LEDGER"' }
`;

const project = PipelineProject.ofFile({ squares: SQUARES, asking: ASKING, paged: PAGED });

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

/** The operation's children, or those of one of its pages. */
async function steps(token: string, page?: string): Promise<any> {
  const args = { token, view: 'steps', ...(page === undefined ? {} : { step: page }) };
  const { structuredContent, content, isError } = await project.call('operation_get', args);
  if (isError) throw new Error(content[0].text);
  return structuredContent;
}

/** Number of events of each run: the operation's, then those of its pages. */
async function historyLengths(token: string): Promise<Record<string, number>> {
  const client = await project.parts.temporal();
  const { children } = await steps(token);
  const pages = children.map(({ name }: any) => name).filter((name: string) => name.includes('-'));
  const ids = [token, ...pages.map((name: string) => `${token}/${name}`)];
  const lengths = ids.map(async (id) => [id, (await client.workflow.getHandle(id).describe()).historyLength]);
  return Object.fromEntries(await Promise.all(lengths));
}

test('hundreds of items run in pages of bounded history, in order of concurrency, and give one result', async () => {
  const items = numbers(640);
  const token = await project.startOn('squares', 'squares', { items });
  const { result } = await project.client.until(token, 'completed', OUTAGE_MS);
  expect(result.isError ? textOf(result) : '').toBe('');
  expect(result.structuredContent).toEqual({ squares: items.map((item) => item * item), last: 1 });

  let running = 0;
  const counts = project.lines('squares').map((line) => (running += line === '+' ? 1 : -1));
  expect(counts).toHaveLength(1_280);
  expect(Math.max(...counts)).toBeLessThanOrEqual(6);

  const lengths = await historyLengths(token);
  const { [token]: own, ...ofPages } = lengths;
  const pageLengths = Object.values(ofPages);
  expect(pageLengths).toHaveLength(3);
  // The estimate of pipelines/history-size.ts is an upper bound, and not far off: all pages but the last are full.
  expect(own).toBeLessThan(50 * (pageLengths.length + 1));
  for (const length of pageLengths) expect(length).toBeLessThan(4_000);
  for (const length of pageLengths.slice(0, -1)) expect(length).toBeGreaterThan(2_000);

  const { children } = await steps(token);
  expect(children.map(({ status }: any) => status)).toEqual(children.map(() => 'completed'));
  const last = children.findLast(({ name }: any) => name.endsWith('-639]'));
  const page = (await steps(token, last.name)).children;
  expect(page.at(-1)).toMatchObject({
    name: 'square[639]',
    status: 'completed',
    item: 639,
    outputs: { square: String(639 ** 2) },
  });
  expect((await project.client.get(token))._meta['longhaul/progress']).toMatchObject({
    progress: 641,
    total: 641,
  });
  await expect(steps(token, 'square[0-1]')).rejects.toThrow('expected the name of a page, one of square[0-');
});

test('approvals inside pages are asked and answered; a cancel ends what runs, with its last steps', async () => {
  const items = numbers(200);
  const token = await project.startOn('asking', 'asking', { items });
  const keys = async () => Object.keys((await project.client.get(token)).inputRequests ?? {});
  await eventually('three are asked', async () => (await keys()).length === 3, OUTAGE_MS);
  const [key] = await keys();
  expect(key).toMatch(/^deploy\[0-\d+\]\/input-1$/);
  await project.client.answer(token, key!, { action: 'accept', content: { approve: true } });
  // Any of the first three may have asked first.
  const [deployed] = await eventually(
    'one is deployed',
    () => {
      const lines = project.lines('asking');
      return lines.length > 0 ? lines : undefined;
    },
    OUTAGE_MS,
  );
  expect(deployed).toMatch(/^deployed [012]$/);
  await project.client.request('tasks/cancel', { taskId: token });
  await project.client.until(token, 'cancelled', OUTAGE_MS);
  // The last steps of the three that had a workspace; nothing of the items that hadn't started.
  expect(project.lines('asking').sort()).toEqual([deployed, 'tidied 0', 'tidied 1', 'tidied 2']);
});

test('more approvals than one history holds are refused at once', async () => {
  const token = await project.startOn('asking', 'refused', { items: numbers(2_300) });
  const { result } = await project.client.until(token, 'completed');
  expect(result.isError).toBe(true);
  expect(result.content[0].text).toMatch(/deploy has 2300 items: about \d+ events .* expected at most 45000/);
  expect(project.lines('refused')).toEqual([]);
});

describe('a reset', () => {
  const items = numbers(60);
  const has = (ledger: string, line: string, count = 1) => project.reaches(ledger, line, count, OUTAGE_MS);
  const count = (ledger: string, line: string) => project.lines(ledger).filter((one) => one === line).length;

  /** The first event after the workflow task that learned of a page's start. */
  function afterFirstStart(): (event: HistoryEvent) => boolean {
    let seen = 0;
    return (event) => {
      if (seen === 0 && event.childWorkflowExecutionStartedEventAttributes) seen = 1;
      else if (seen === 1 && event.workflowTaskCompletedEventAttributes) seen = 2;
      else return seen === 2;
      return false;
    };
  }

  /** Runs under the ID of a page, by status, the latest first. */
  async function runsOf(page: string): Promise<string[]> {
    const client = await project.parts.temporal();
    const runs: string[] = [];
    for await (const { status } of client.workflow.list({ query: `WorkflowId = "${page}"` }))
      runs.push(status.name);
    return runs;
  }

  test('begins pages again that begin after its point: those of the replaced run are ended first', async () => {
    const client = await project.parts.temporal();
    const token = await project.startOn('paged', 'anew', { items });
    await has('anew', 'done 8');
    await resetBefore(client, token, (event) =>
      Boolean(event.startChildWorkflowExecutionInitiatedEventAttributes),
    );
    await has('anew', 'start 0', 2);
    project.letGo('anew');
    expect((await project.finish(token, OUTAGE_MS)).structuredContent).toEqual({ done: items });
    expect(project.lines('anew')).not.toContain('overlap');
    const counts = ['one', 'done 0', 'done 8', 'last'].map((line) => count('anew', line));
    expect(counts).toEqual([1, 1, 2, 1]);
    await eventually(
      'visibility has both runs',
      async () => (await runsOf(`${token}/each[0-24]`)).length === 2,
    );
    expect(await runsOf(`${token}/each[0-24]`)).toEqual(['COMPLETED', 'TERMINATED']);
  });

  test('lets a page that had begun before its point continue, and its items run once', async () => {
    const client = await project.parts.temporal();
    const token = await project.startOn('paged', 'kept', { items });
    await has('kept', 'done 30');
    await resetBefore(client, token, afterFirstStart());
    await has('kept', 'done 30', 2);
    project.letGo('kept');
    expect((await project.finish(token, OUTAGE_MS)).structuredContent).toEqual({ done: items });
    const counts = ['one', 'start 0', 'done 0', 'done 8', 'done 30', 'last'].map((line) =>
      count('kept', line),
    );
    expect(counts).toEqual([1, 1, 1, 1, 2, 1]);
  });
});
