/**
 * Tools with random JSON Schemas as arguments and results, hostile ones among them: each is refused with its reason, or is listed,
 * documented and described beside all others. `LONGHAUL_SCHEMA_SEED=7` draws others.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { AjvJsonSchemaValidator as CurrentValidator } from '@modelcontextprotocol/client/validators/ajv';
import { ListToolsResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator as OlderValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { expect, jest, test } from '@jest/globals';
import { toolHelp } from '../../cli/tools/tool-help.js';
import { createHttpApp } from '../../mcp-server/http.js';
import { createListener } from '../../mcp-server/http/listener.js';
import { ServerReadiness } from '../../mcp-server/http/readiness.js';
import { LonghaulError } from '../../operations/errors.js';
import { compilePatterns } from '../../operations/tool/schema.js';
import { defineTool, type Tool } from '../../operations/tool/index.js';
import { loadSettings } from '../../platform/settings/index.js';
import { createLogger } from '../../platform/observe/log.js';
import { Signer } from '../../platform/temporal/signer.js';
import { loadSecret } from '../../platform/home/secret.js';
import { openStorage } from '../../platform/storage/index.js';
import { connectEngine } from '../support/engine.js';
import { afterAllTests, forAllTests, inSetUp } from '../support/for-all-tests.js';
import { WireClient } from '../support/mcp.js';
import { Random } from '../support/random.js';
import { TestStack } from '../support/test-stack.js';
import { refusedForms } from './forms.js';
import { LISTINGS, listings } from './listings.js';
import { randomObjectSchema } from './random-schemas.js';

/** Each tool has two. */
const SCHEMAS = 1_000;
const random = new Random(Number(process.env['LONGHAUL_SCHEMA_SEED'] ?? 11));

const tools: Tool[] = [];
const refusals: unknown[] = [];
for (let at = 0; at < SCHEMAS / 2; at += 1) {
  try {
    tools.push(define(`tool_${at}`));
  } catch (error) {
    refusals.push(error);
  }
}
const names = tools.map(({ name }) => name);

/** As a file with the definition is loaded. */
function define(name: string): Tool {
  const tool = defineTool({
    name,
    description: { does: 'Works.' },
    input: randomObjectSchema(random),
    output: randomObjectSchema(random),
    estimate: { seconds: 1 },
  });
  compilePatterns(tool.inputSchema, `tool "${name}": input`);
  compilePatterns(tool.outputSchema!, `tool "${name}": output`);
  return tool;
}

const stack = await forAllTests(TestStack.shared());
const home = process.env['LONGHAUL_HOME']!;
const settings = await inSetUp(loadSettings({ home, taskQueue: stack.taskQueue }, {}, home));
const logger = createLogger('test', 'error');
const storage = openStorage({ home });
const engine = await inSetUp(connectEngine(stack.taskQueue, { tools, storage }));
const { keyId } = new Signer(loadSecret(home));
const served = createHttpApp(engine, settings, logger, new ServerReadiness(engine, { home, storage, keyId }));
const listener = createListener(served.app, settings, logger);
listener.server.listen(0, '127.0.0.1');
await inSetUp(once(listener.server, 'listening'));
const client = new WireClient(`http://127.0.0.1:${(listener.server.address() as AddressInfo).port}/mcp`);
const all = await inSetUp(listings({ client }));
afterAllTests(async () => {
  await served.drain();
  listener.server.closeAllConnections();
  listener.server.close();
  await served.close();
  await engine.temporal.close();
});

async function get(path: string, accept = 'application/json'): Promise<string> {
  const response = await fetch(new URL(path, client.url), { headers: { accept } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status}: ${text}`);
  return text;
}

test('a schema is used or refused, and a refusal names the tool and the schema', () => {
  expect([tools.length > 150, refusals.length > 100]).toEqual([true, true]);
  for (const error of refusals) {
    expect(error).toBeInstanceOf(LonghaulError);
    expect(error).toMatchObject({
      kind: 'invalid_arguments',
      message: expect.stringMatching(/^tool "tool_\d+": (input|output)\b.*: /),
    });
  }
});

test('all are listed on every protocol and revision, in forms that all known clients take', () => {
  expect(all).toHaveLength(LISTINGS);
  for (const { name: listing, tools: listed, problems } of all) {
    expect([listing, problems]).toEqual([listing, []]);
    const found = new Set(listed.map(({ name }) => name));
    expect([listing, names.filter((name) => !found.has(name))]).toEqual([listing, []]);
    for (const { name, inputSchema, outputSchema } of listed)
      for (const schema of [inputSchema, outputSchema])
        if (schema) expect([listing, name, refusedForms(schema)]).toEqual([listing, name, []]);
  }
});

test("MCP's SDKs for TypeScript take every list, and make validators of all schemas", () => {
  for (const { tools: listed } of all) ListToolsResultSchema.parse({ tools: listed });
  // For each format that they don't know.
  const warnings = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
  const { tools: listed } = all.find(({ name }) => name === '2026-07-28 tasks')!;
  const refused = listed.flatMap(({ name, inputSchema, outputSchema }) =>
    [inputSchema, outputSchema].flatMap((schema) => (schema ? problemsOfClients(name, schema) : [])),
  );
  warnings.mockRestore();
  expect(refused).toEqual([]);
});

function problemsOfClients(name: string, schema: object): string[] {
  return [new CurrentValidator(), new OlderValidator()].flatMap((validator) => {
    try {
      validator.getValidator(schema);
      return [];
    } catch (error) {
      return [`${name}: ${(error as Error).message}: ${JSON.stringify(schema)}`];
    }
  });
}

test('all are documented, as JSON, as Markdown and as a resource', async () => {
  for (const name of names) {
    const { documentation } = JSON.parse(await get(`/v1/tools/${name}`)) as { documentation: object };
    expect(Object.keys(documentation)).toHaveLength(10);
    expect(await get(`/v1/tools/${name}`, 'text/markdown')).toContain(`# ${name}`);
    const { result } = await client.request('resources/read', { uri: `longhaul://tools/${name}` });
    expect(result?.contents[0].text).toContain(`# ${name}`);
  }
});

test('all are in /v1/tools, in the OpenAPI document and among the definitions for model APIs', async () => {
  const list = JSON.parse(await get('/v1/tools')) as { tools: { name: string }[] };
  expect(list.tools.map(({ name }) => name)).toEqual(names);
  const { paths } = JSON.parse(await get('/openapi.json')) as { paths: object };
  expect(Object.keys(paths)).toEqual(expect.arrayContaining(names.map((name) => `/v1/tools/${name}/jobs`)));
  for (const format of ['openai', 'anthropic']) {
    const { calls, tools: defined } = JSON.parse(await get(`/v1/tools?format=${format}`)) as {
      calls: object;
      tools: any[];
    };
    expect(Object.keys(calls)).toEqual(expect.arrayContaining(names));
    for (const one of defined) {
      const parameters = one.function?.parameters ?? one.input_schema;
      expect([one, parameters.type, typeof parameters.properties]).toEqual([one, 'object', 'object']);
    }
  }
});

test('each has its help at the command line, with a flag for each argument', () => {
  const { tools: listed } = all.find(({ name }) => name === '2026-07-28 tasks')!;
  for (const tool of listed.filter(({ name }) => names.includes(name))) {
    const help = toolHelp(tool);
    expect(help).toContain(`longhaul call ${tool.name}`);
    expect(help).toContain('--idempotency-key');
  }
});
