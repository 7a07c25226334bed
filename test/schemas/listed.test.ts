/**
 * Published schemas are of use to clients that expand references, and to generators: none of a tool that ships contains
 * itself. Schemas of authors that do are listed as they are, and lint finds them.
 */
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { JsonSchema } from '../../operations/tool/schema.js';
import { rebaseReferences, recursiveReferences } from '../../operations/tool/schema-references.js';
import { run } from '../cli/commands.js';
import { forAllTests, forThisTest, inSetUp, temporaryFolder } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { LISTINGS, listings } from './listings.js';
import { compileTypes, installPythonClient, pythonClientOf, toZod } from './generators.js';

const data = temporaryFolder('schemas');
const python = await inSetUp(installPythonClient());
// Nothing but what ships.
const parts = await forAllTests(
  TestStack.serverOnSharedWorker({
    LONGHAUL_PROJECT: data,
    LONGHAUL_PIPELINE_FOLDERS: resolve('examples/pipelines'),
    LONGHAUL_MAILBOX: 'true',
  }),
);

/** Every schema of every listing once, by a name. */
async function schemas(): Promise<[name: string, schema: JsonSchema][]> {
  const byText = new Map<string, [string, JsonSchema]>();
  for (const { name: listing, tools } of await listings(parts))
    for (const tool of tools)
      for (const kind of ['inputSchema', 'outputSchema'])
        if (tool[kind])
          byText.set(JSON.stringify(tool[kind]), [`${tool.name} ${kind} ${listing}`, tool[kind]]);
  return [...byText.values()].map(([name, schema]) => [name.replaceAll(/[^A-Za-z0-9]+/g, '_'), schema]);
}

const documentOf = (all: [string, JsonSchema][]) => ({
  openapi: '3.1.0',
  info: { title: 'tools', version: '1' },
  paths: {},
  components: {
    schemas: Object.fromEntries(
      all.map(([name, schema]) => [name, rebaseReferences(`#/components/schemas/${name}`, schema)]),
    ),
  },
});

describe('of the tools that ship', () => {
  test('no listed schema contains itself, on any protocol and revision', async () => {
    const all = await listings(parts);
    expect(all).toHaveLength(LISTINGS);
    for (const { name: listing, tools } of all) {
      const names = tools.map(({ name }) => name);
      expect(names).toEqual(
        expect.arrayContaining([
          'analyze_dataset',
          'sign_packages',
          'operation_get',
          'operation_cancel',
          'wait',
        ]),
      );
      for (const { name, inputSchema, outputSchema } of tools)
        for (const schema of [inputSchema, outputSchema ?? {}])
          expect([listing, name, recursiveReferences(schema)]).toEqual([listing, name, []]);
    }
  });

  test('every schema becomes a zod schema, which takes a real result and refuses another', async () => {
    for (const [name, schema] of await schemas())
      expect([name, toZod(schema).safeParse('no object').success]).toEqual([name, false]);
    const plain = parts.client.with({});
    const { tools } = (await plain.request('tools/list')).result;
    const { outputSchema } = tools.find(({ name }: any) => name === 'analyze_dataset');
    const { result } = await plain.call('analyze_dataset', {
      path: 'airports.csv',
      profile: true,
      wait: true,
    });
    const { structuredContent } = result;
    expect(toZod(outputSchema).safeParse(structuredContent).error).toBeUndefined();
    const wrong = { ...structuredContent, status: 7 };
    expect(toZod(outputSchema).safeParse(wrong).success).toBe(false);
  });

  test('every schema becomes TypeScript that compiles', async () => {
    expect(await compileTypes(documentOf(await schemas()))).toBe('');
  });

  test('the document of the HTTP jobs becomes TypeScript that compiles, and a Python client', async () => {
    const document = (await (await fetch(`${parts.base}/openapi.json`)).json()) as object;
    expect(await compileTypes(document)).toBe('');
    const { warnings, models } = await pythonClientOf(python, document);
    // Bytes of any type have no model.
    expect(warnings.filter((line) => !line.includes('/artifacts/{name}'))).toEqual([]);
    for (const tool of ['analyze_dataset', 'sign_packages']) expect(models).toContain(`${tool}_result`);
  });
});

describe('of an author', () => {
  const project = resolve('test/schemas/project');

  test('a recursive schema is listed as it is, on every protocol, and checks the arguments of calls', async () => {
    const own = await forThisTest(TestStack.serverOnSharedWorker({ LONGHAUL_PROJECT: project }));

    for (const { name: listing, tools } of await listings(own)) {
      const { inputSchema, outputSchema } = tools.find(({ name }) => name === 'tree');
      expect([listing, recursiveReferences(inputSchema).length]).toEqual([listing, 1]);
      expect(recursiveReferences(outputSchema ?? {}).length).toBeLessThanOrEqual(1);
    }
    const deep = { root: { name: 'a', children: [{ name: 7, children: [] }] } };
    const refused = await own.client.with({}).call('tree', deep);
    expect(refused.result.content[0].text).toContain('root.children[0].name');
  });

  test('lint names a recursive schema, where it stands and what to write instead', async () => {
    const { code, stdout } = await run(parts, ['lint', join(project, 'tools/tree.ts')]);
    expect(code).toBe(1);
    for (const field of ['input', 'output'])
      expect(stdout).toMatch(
        new RegExp(
          `tree\\.ts: ${field}/\\S+/\\$ref: recursive, so some clients drop the tool; expected .*write the levels out`,
        ),
      );
  });

  test.each<[string, JsonSchema, string[]]>([
    ['the whole', { properties: { next: { $ref: '#' } } }, ['/properties/next/$ref']],
    [
      'itself by way of another',
      {
        $ref: '#/$defs/a',
        $defs: { a: { items: { $ref: '#/$defs/b' } }, b: { not: { $ref: '#/$defs/a' } } },
      },
      ['/$defs/b/not/$ref'],
    ],
    ['an anchor around it', { $anchor: 'top', items: { $ref: '#top' } }, ['/items/$ref']],
    [
      'itself under a property called default',
      { properties: { default: { $ref: '#' } } },
      ['/properties/default/$ref'],
    ],
    [
      'one part from two places',
      { prefixItems: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }], $defs: { a: {} } },
      [],
    ],
    ['nothing: a value that looks like it', { default: { $ref: '#' }, enum: [{ $ref: '#' }] }, []],
    ['nothing: a property of that name', { properties: { $ref: { type: 'string' } } }, []],
    [
      'what is elsewhere, or not there',
      { allOf: [{ $ref: 'https://example.com/a' }, { $ref: '#/$defs/a' }] },
      [],
    ],
  ])('a reference to %s', (_what, schema, expected) => {
    expect(recursiveReferences(schema)).toEqual(expected);
  });
});
