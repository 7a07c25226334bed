/** Jobs with so many items that they run in pages: child workflows with histories of their own. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { OUTAGE_MS, PROCESSES_MS, STACK_MS } from '../support/limits.js';
import { LEDGER, PipelineProject, textOf } from './support.js';

jest.setTimeout(STACK_MS);

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

/** Some items fail until the file "fixed" is there. */
const REPAIRED = `
concurrency: 8
inputs: { properties: { items: { type: array }, ledger: { type: string }, folder: { type: string } }, required: [items, ledger, folder] }
outputs: { done: { value: fix.done, type: integer } }
jobs:
  fix:
    for-each: items
    outputs: [done]
    steps:
      - { name: count, run: 'echo "$LONGHAUL_ITEM" >> "$INPUT_LEDGER"' }
      - name: check
        run: |
          echo "checks $LONGHAUL_ITEM"
          [ "$LONGHAUL_ITEM" != 3 ] && [ "$LONGHAUL_ITEM" != 399 ] || [ -e "$INPUT_FOLDER/fixed" ]
          echo "done=$LONGHAUL_ITEM" >> "$LONGHAUL_OUTPUT"
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

let project: PipelineProject;
beforeAll(async () => {
  project = await PipelineProject.shared({ squares: SQUARES, repaired: REPAIRED, asking: ASKING });
}, PROCESSES_MS);
afterAll(() => project?.stop());

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

/** The operation's children, or those of one of its pages. */
async function steps(token: string, page?: string): Promise<any> {
  const { structuredContent, content, isError } = (
    await project.client.request('tools/call', {
      name: 'operation_get',
      arguments: { token, view: 'steps', ...(page === undefined ? {} : { step: page }) },
    })
  ).result;
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

test('two thousand items run in pages of bounded history, in order of concurrency, and give one result', async () => {
  const items = numbers(2_000);
  const token = await project.startOn('squares', 'squares', { items });
  const { result } = await project.client.until(token, 'completed', 1_200_000);
  expect(result.isError ? textOf(result) : '').toBe('');
  expect(result.structuredContent).toEqual({ squares: items.map((item) => item * item), last: 1 });

  let running = 0;
  const counts = project.lines('squares').map((line) => (running += line === '+' ? 1 : -1));
  expect(counts).toHaveLength(4_000);
  expect(Math.max(...counts)).toBeLessThanOrEqual(6);

  const lengths = await historyLengths(token);
  const { [token]: own, ...ofPages } = lengths;
  const pageLengths = Object.values(ofPages);
  expect(pageLengths.length).toBeGreaterThan(5);
  // The estimate of pipelines/history-size.ts is an upper bound, and not far off: all pages but the last are full.
  expect(own).toBeLessThan(50 * (pageLengths.length + 1));
  for (const length of pageLengths) expect(length).toBeLessThan(4_000);
  for (const length of pageLengths.slice(0, -1)) expect(length).toBeGreaterThan(2_000);

  const { children } = await steps(token);
  expect(children.map(({ status }: any) => status)).toEqual(children.map(() => 'completed'));
  const last = children.findLast(({ name }: any) => name.endsWith('-1999]'));
  const page = (await steps(token, last.name)).children;
  expect(page.at(-1)).toMatchObject({
    name: 'square[1999]',
    status: 'completed',
    item: 1999,
    outputs: { square: String(1999 ** 2) },
  });
  expect((await project.client.get(token))._meta['longhaul/progress']).toMatchObject({
    progress: 2_001,
    total: 2_001,
  });
  await expect(steps(token, 'square[0-1]')).rejects.toThrow('expected the name of a page, one of square[0-');
}, 1_300_000);

test('items that fail are named; a resume runs only them again, and their logs are found', async () => {
  const items = numbers(400);
  const token = await project.startOn('repaired', 'repaired', { items, folder: project.ledgers });
  const { result } = await project.client.until(token, 'completed', 600_000);
  expect(result.isError).toBe(true);
  expect(result.content[0].text).toContain('fix[3]: ');
  expect(result.content[0].text).toContain('Also failed: fix[399]');
  const { children } = await steps(token);
  const failed = children.filter(({ status }: any) => status === 'failed');
  expect(failed.map(({ status_message }: any) => status_message)).toEqual([
    expect.stringMatching(/^1 of \d+ failed: fix\[3\]$/),
    expect.stringMatching(/^1 of \d+ failed: fix\[399\]$/),
  ]);
  const log = await project.client.request('tools/call', {
    name: 'operation_get',
    arguments: { token, view: 'logs', step: 'fix[399]/check' },
  });
  expect(log.result.structuredContent.log.lines[0].text).toBe('checks 399');

  writeFileSync(join(project.ledgers, 'fixed'), '');
  const { structuredContent: resumed } = await project.resume(token);
  const { result: second } = await project.client.until(resumed.token, 'completed', 120_000);
  expect(second.structuredContent).toEqual({ done: items });
  // The first step of the two had completed: it isn't repeated.
  expect(
    project
      .lines('repaired')
      .map(Number)
      .sort((one, other) => one - other),
  ).toEqual(items);
}, 900_000);

test('approvals inside pages are asked and answered; a cancel ends what runs, with its last steps', async () => {
  const items = numbers(300);
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
}, 600_000);

test('more approvals than one history holds are refused at once', async () => {
  const token = await project.startOn('asking', 'refused', { items: numbers(2_300) });
  const { result } = await project.client.until(token, 'completed');
  expect(result.isError).toBe(true);
  expect(result.content[0].text).toMatch(/deploy has 2300 items: about \d+ events .* expected at most 45000/);
  expect(project.lines('refused')).toEqual([]);
});
