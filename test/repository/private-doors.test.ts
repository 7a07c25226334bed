/** Private parts of SDKs: each is reached from one place, which names the version that it was seen in. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { globSync } from 'tinyglobby';
import * as durations from '../../platform/temporal/internal/durations.js';
import * as histories from '../../platform/temporal/internal/history-json.js';
import * as payloads from '../../platform/temporal/internal/payloads.js';
import { disallowedModules } from '../../platform/temporal/internal/sandbox-modules.js';

const DOORS = globSync('{platform/temporal/internal,workflows/runtime/internal,mcp-server/sdk-internal}/*.ts');

interface Run {
  code: number;
  output: string;
}

function run(args: string[], { cwd = '.', input = '' } = {}): Promise<Run> {
  return new Promise((done) => {
    const child = execFile(process.execPath, args, { cwd }, (error, stdout, stderr) =>
      done({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
    );
    child.stdin!.end(input);
  });
}

/** Runs the check of imports over rooms that hold these files alone. */
async function layersOf(files: Record<string, string>): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-layers-'));
  try {
    const { rooms } = createRequire(import.meta.url)(resolve('.dependency-cruiser.cjs')) as { rooms: string[] };
    for (const room of rooms) mkdirSync(join(folder, room), { recursive: true });
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    for (const file of ['package.json', 'tsconfig.json']) cpSync(file, join(folder, file));
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    return await run([resolve('test/layers.js')], { cwd: folder });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test.each(DOORS)('%s names the installed version of the package whose private part it uses', (path) => {
  const [, list, version] = /Private door to ([^,]+), seen in ([\d.]+):/.exec(readFileSync(path, 'utf8')) ?? [];
  expect(list).toBeDefined();
  for (const name of list!.split(' and ')) {
    const manifest = readFileSync(`node_modules/${name}/package.json`, 'utf8');
    expect(`${name} ${(JSON.parse(manifest) as { version: string }).version}`).toBe(`${name} ${version}`);
  }
});

test("Temporal's packages are pinned, so that a later install makes the same build", () => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const ofTemporal = Object.entries(dependencies).filter(([name]) => name.startsWith('@temporalio/'));
  expect(ofTemporal.length).toBeGreaterThan(0);
  for (const [name, range] of ofTemporal) expect([name, range]).toEqual([name, expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
});

test("an import of a file that Temporal's packages don't export is refused outside of the doors", async () => {
  const code = "import { msToNumber } from '@temporalio/common/lib/time.js';\nexport const ms = msToNumber('1s');\n";
  const exported = "import { ApplicationFailure } from '@temporalio/common';\nexport { ApplicationFailure };\n";
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

test("the linter refuses underscored members of SDKs and the sandbox's globals outside of the doors", async () => {
  const input = [
    'declare const server: { _meta: object; _handlers: object };',
    'export const meta = server._meta;',
    'export const dot = server._handlers;',
    "export const text = server['_handlers'];",
    "export type Index = typeof server['_handlers'];",
    'export class Hook { _wrapHandler() { return 1; } }',
    'export const sandbox = (globalThis as unknown as { __TEMPORAL__: object }).__TEMPORAL__;',
  ].join('\n');
  const eslint = [resolve('node_modules/eslint/bin/eslint.js'), '--stdin', '--format', 'json'];
  const { output } = await run([...eslint, '--stdin-filename', 'engine/index.ts'], { input });
  const [{ messages }] = JSON.parse(output) as [{ messages: { ruleId: string; line: number }[] }];
  const lines = messages.filter(({ ruleId }) => ruleId === 'no-restricted-syntax').map(({ line }) => line);
  expect([...new Set(lines)]).toEqual([3, 4, 5, 6, 7]);
});

test("the doors of Temporal's common package lead to what their users expect", async () => {
  expect(durations.msToNumber('5m')).toBe(300_000);
  const history = { events: [{ eventId: '1', eventTime: '2026-01-01T00:00:00Z' }] };
  expect(JSON.parse(histories.historyToJSON(histories.historyFromJSON(history)))).toMatchObject(history);
  const converter = payloads.loadDataConverter();
  const encoded = (await payloads.encodeToPayloads(converter, { a: 1 }))!;
  expect(await payloads.decodeArrayFromPayloads(converter, encoded)).toEqual([{ a: 1 }]);
  expect(await payloads.decodeMapFromPayloads(converter, { memo: encoded[0]! })).toEqual({ memo: { a: 1 } });
  const failure = await payloads.encodeErrorToFailure(converter, new Error('broken'));
  expect(await payloads.decodeOptionalFailureToOptionalError(converter, failure)).toMatchObject({
    message: 'broken',
  });
  expect(disallowedModules).toEqual(expect.arrayContaining(['fs', '@temporalio/client']));
});
