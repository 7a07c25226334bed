import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { PROCESSES_MS, STACK_MS } from '../support/limits.js';
import { PipelineProject } from './support.js';

jest.setTimeout(STACK_MS);

const EACH = `
inputs: { properties: { items: { type: array } }, required: [items] }
outputs: { squares: { value: square.square, type: integer } }
jobs:
  square:
    for-each: items
    outputs: [square]
    steps: [{ run: 'echo "square=$((LONGHAUL_ITEM * LONGHAUL_ITEM))" >> "$LONGHAUL_OUTPUT"' }]
`;

const BIG_INPUT = `
inputs: { properties: { text: { type: string }, small: { type: string } }, required: [text] }
outputs: { length: { value: only.length, type: integer }, variable: only.variable }
jobs:
  only:
    outputs: [length, variable]
    steps:
      - run: |
          length=$(node -p 'JSON.parse(require("fs").readFileSync(process.env.LONGHAUL_INPUTS, "utf8")).text.length')
          echo "length=$length" >> "$LONGHAUL_OUTPUT"
          echo "variable=\${INPUT_TEXT-none} $INPUT_SMALL" >> "$LONGHAUL_OUTPUT"
`;

let project: PipelineProject;
beforeAll(async () => {
  project = await PipelineProject.shared({ each: EACH, big_input: BIG_INPUT });
}, PROCESSES_MS);
afterAll(() => project?.stop());

test('a worker runs no more steps at once than LONGHAUL_MAX_STEPS says', async () => {
  // Its own worker, whose bound is 2.
  const bounded = await PipelineProject.start(
    {
      notes: `
inputs: { properties: { ledger: { type: string }, items: { type: array } }, required: [ledger, items] }
jobs:
  note:
    for-each: items
    steps: [{ run: 'echo + >> "$INPUT_LEDGER"; sleep 0.3; echo - >> "$INPUT_LEDGER"' }]
`,
    },
    { LONGHAUL_MAX_STEPS: '2' },
  );
  try {
    const token = await bounded.startOn('notes', 'notes', { items: [1, 2, 3, 4, 5, 6] });
    await bounded.client.until(token, 'completed');
    let running = 0;
    const counts = bounded.lines('notes').map((line) => (running += line === '+' ? 1 : -1));
    expect(counts).toHaveLength(12);
    expect(Math.max(...counts)).toBe(2);
  } finally {
    await bounded.stop();
  }
});

test('an input of nearly 1 MiB is in the file, and its variable is left out', async () => {
  const text = 'x'.repeat(1024 * 1024 - 100);
  const token = await project.client.start('big_input', { text, small: 'small' });
  const { result } = await project.client.until(token, 'completed');
  expect(result.structuredContent).toEqual({ length: text.length, variable: 'none small' });
});

test('an empty list runs nothing and completes', async () => {
  const token = await project.client.start('each', { items: [] });
  const { result } = await project.client.until(token, 'completed');
  expect(result.structuredContent).toEqual({ squares: [] });
});
