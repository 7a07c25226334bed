/** A project that can not be served ends the process with 1 and one line that names the file. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestStack } from '../support/test-stack.js';
import { writeFiles } from '../support/write-files.js';

const root = mkdtempSync(join(tmpdir(), 'longhaul-project-'));
let parts: TestStack;
beforeAll(async () => {
  parts = await TestStack.shared();
});
afterAll(async () => {
  await parts?.stop();
  rmSync(root, { recursive: true, force: true });
});

const tool = (name: string) =>
  `import { defineTool } from 'longhaul';
   export default defineTool({ name: '${name}', description: { does: 'x' }, estimate: { seconds: 1 },
     input: { type: 'object', properties: {} } });`;

const A = 'export const a = 1;';

test.each<[command: string, files: Record<string, string>, words: RegExp]>([
  ['server', { 'tools/x.ts': 'export const a = 1;' }, /^longhaul: tools\/x\.ts: expected a default export/],
  ['server', { 'tools/x.ts': tool('x'), 'tools/y.ts': tool('x') }, /y\.ts: .* tool "x", in tools\/x\.ts$/],
  ['server', { 'tools/x.ts': 'export { default } from "./nope.js";' }, /x\.ts can't be loaded: .*nope\.js'$/],
  ['worker', { 'workflows/x.ts': A, 'workflows/y.ts': A }, /y\.ts: .* export "a", in workflows\/x\.ts/],
])('the %s ends for a project with %j', async (command, files, words) => {
  const folder = mkdtempSync(join(root, 'project-'));
  writeFiles(folder, files);
  const part = parts.run(command, {
    LONGHAUL_PROJECT: folder,
    LONGHAUL_SHIPPED_TOOLS: 'false',
    LONGHAUL_TASK_QUEUE: `refused-${randomUUID()}`,
  });
  const [code] = (await once(part.process, 'close')) as [number];
  expect(code).toBe(1);
  const lines = part
    .output()
    .split('\n')
    .filter((line) => line && !line.startsWith('{'));
  expect(lines.map((line) => line.replaceAll(`${folder}/`, ''))).toEqual([expect.stringMatching(words)]);
});
