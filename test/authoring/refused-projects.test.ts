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

test.each([
  [
    'no tool in a file',
    'server',
    { 'tools/x.ts': 'export const a = 1;' },
    /^longhaul: tools\/x\.ts: expected a default export made by defineTool\(\)/,
  ],
  [
    'one name twice',
    'server',
    { 'tools/x.ts': tool('x'), 'tools/y.ts': tool('x') },
    /^longhaul: tools\/y\.ts: there is already a tool "x", in tools\/x\.ts$/,
  ],
  [
    'an import that is not there',
    'server',
    { 'tools/x.ts': 'export { default } from "./nope.js";' },
    /^longhaul: tools\/x\.ts can't be loaded: Cannot find module '\.\/nope\.js'$/,
  ],
  [
    'an export of two workflow files',
    'worker',
    { 'workflows/x.ts': 'export const a = 1;', 'workflows/y.ts': 'export const a = 2;' },
    /workflows\/y\.ts: there is already an export "a", in workflows\/x\.ts/,
  ],
] as [string, string, Record<string, string>, RegExp][])(
  '%s ends the %s',
  async (_what, command, files, words) => {
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
  },
);
