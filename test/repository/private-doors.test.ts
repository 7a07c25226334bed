/** Private parts of SDKs: each is reached from one place, which names the version that it was seen in. */
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { globSync } from 'tinyglobby';
import * as histories from '../../platform/temporal/internal/history-json.js';
import * as payloads from '../../platform/temporal/internal/payloads.js';
import { disallowedModules } from '../../platform/temporal/internal/sandbox-modules.js';
import { runNode } from './run-node.js';

const DOORS = globSync(
  '{platform/temporal/internal,workflows/runtime/internal,mcp-server/sdk-internal}/*.ts',
);

/** Prints the lines of a text that the rules of eslint.config.js for private parts refuse: those rules need no types. */
const LINT = `
  import { readFileSync } from 'node:fs';
  import { resolve } from 'node:path';
  import { Linter } from 'eslint';
  import { parser } from 'typescript-eslint';
  import config from './eslint.config.js';
  const doors = config
    .filter(({ rules }) => rules?.['no-restricted-syntax'])
    .map((each) => ({ ...each, languageOptions: { parser } }));
  const messages = new Linter().verify(readFileSync(0, 'utf8'), doors, resolve('engine/index.ts'));
  console.log(JSON.stringify(messages.map(({ line }) => line)));
`;

test.each(DOORS)('%s names the installed version of the package whose private part it uses', (path) => {
  const door = /Private door to ([^,]+), seen in ([\d.]+):/.exec(readFileSync(path, 'utf8'));
  const [, list, version] = door ?? [];
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
  for (const dependency of ofTemporal)
    expect(dependency).toEqual([dependency[0], expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
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
  const { output } = await runNode(['--input-type=module', '-e', LINT], { input });
  const lines = JSON.parse(output) as number[];
  expect([...new Set(lines)]).toEqual([3, 4, 5, 6, 7]);
});

test("the doors of Temporal's common package lead to what their users expect", async () => {
  const timerFiredEventAttributes = { timerId: '7' };
  const event = { eventId: '1', eventType: 'EVENT_TYPE_TIMER_FIRED', timerFiredEventAttributes };
  const history = { events: [event] };
  expect(JSON.parse(histories.historyToJSON(histories.historyFromJSON(history)))).toMatchObject(history);
  const converter = payloads.loadDataConverter();
  const encoded = (await payloads.encodeToPayloads(converter, { a: 1 }))!;
  expect(await payloads.decodeArrayFromPayloads(converter, encoded)).toEqual([{ a: 1 }]);
  const failure = await payloads.encodeErrorToFailure(converter, new Error('broken'));
  expect(await payloads.decodeOptionalFailureToOptionalError(converter, failure)).toMatchObject({
    message: 'broken',
  });
  expect(disallowedModules).toEqual(expect.arrayContaining(['fs', '@temporalio/client']));
});
