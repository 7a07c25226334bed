/** `npm run layers` refuses what it is there for. */
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '../support/for-all-tests.js';
import { runNode, type NodeRun } from './run-node.js';

const { rooms } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as { rooms: string[] };

/** Runs the check of imports over rooms that hold these files alone. */
async function layersOf(files: Record<string, string>): Promise<NodeRun> {
  const folder = temporaryFolder('layers');

  for (const room of rooms) mkdirSync(join(folder, room), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  for (const file of ['package.json', 'tsconfig.json']) cpSync(file, join(folder, file));
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  return await runNode([resolve('test/layers.js')], { cwd: folder });
}

test("an import of a file that Temporal's packages don't export is refused outside of the doors", async () => {
  const code =
    "import { msToNumber } from '@temporalio/common/lib/time.js';\nexport const ms = msToNumber('1s');\n";
  const exported =
    "import { ApplicationFailure } from '@temporalio/common';\nexport { ApplicationFailure };\n";
  const { code: exitCode, output } = await layersOf({
    'engine/breaks.ts': code,
    'engine/keeps.ts': exported,
    'platform/temporal/internal/door.ts': code,
  });
  expect(exitCode).toBe(1);
  expect(output.match(/^private-doors: .*/gm)).toEqual([
    expect.stringMatching(/^private-doors: engine\/breaks\.ts -> .*@temporalio\/common\/lib\/time\.js$/),
  ]);
});

test('no room imports the mailbox or the list of mounts, and the mailbox imports the server', async () => {
  const imports = (path: string) => `import { a } from '${path}';\nexport const b = a;\n`;
  const { code, output } = await layersOf({
    'mailbox/tools/index.ts': imports('../../mcp-server/a.js'),
    'mcp-server/a.ts': 'export const a = 1;\n',
    'mounts.ts': imports('./mailbox/tools/index.js').replace('{ a }', '{ b as a }'),
    'engine/mailbox.ts': imports('../mailbox/tools/index.js').replace('{ a }', '{ b as a }'),
    'mcp-server/mounts.ts': imports('../mounts.js').replace('{ a }', '{ b as a }'),
    'cli/mounts.ts': imports('../mounts.js').replace('{ a }', '{ b as a }'),
  });
  expect(code).toBe(1);
  expect(output.match(/^[\w-]+: .* -> .*/gm)!.sort()).toEqual([
    'engine-imports: engine/mailbox.ts -> mailbox/tools/index.ts',
    'mounts-are-for-the-top: mcp-server/mounts.ts -> mounts.ts',
  ]);
});
