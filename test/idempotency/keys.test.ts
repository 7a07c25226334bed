/** One key, one operation: on every protocol, as an argument and in `_meta`, after an answer that never arrived. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { run } from '../cli/commands.js';
import { forAllTests } from '../support/for-all-tests.js';
import { VERSIONS } from '../revision-2025-11-25/wire.js';
import { TASKS } from '../support/mcp.js';
import { OPTED_IN as TOKENS } from '../sep-1391/client.js';
import { KEY_META as META, session, stateless, type Rpc } from '../support/protocols/rpc.js';
import { TestStack } from '../support/test-stack.js';
import { OPT_IN as JOBS } from '../two-stage/client.js';

const parts = await forAllTests(TestStack.shared());

interface Protocol {
  name: string;
  /** Result of `tools/list`. */
  list(): Promise<any[]>;
  /** The whole answer to a call. @param more fields of params beside name and arguments */
  call(tool: string, args: object, more?: object): Promise<any>;
  /** Makes the call and closes the connection without reading an answer. */
  lose(tool: string, args: object, more?: object): Promise<void>;
  handleOf(answer: any): string;
}

function protocolOf(
  name: string,
  connect: () => Rpc,
  handleOf: Protocol['handleOf'],
  fields: object = {},
): Protocol {
  const params = (tool: string, args: object, more: object = {}) => ({
    name: tool,
    arguments: args,
    ...fields,
    ...more,
  });
  return {
    name,
    list: async () => (await connect().answerTo('tools/list', {})).result.tools,
    call: (tool, args, more) => connect().answerTo('tools/call', params(tool, args, more)),
    lose: (tool, args, more) => connect().lose('tools/call', params(tool, args, more)),
    handleOf,
  };
}

const current = (name: string, capabilities: object, handleOf: Protocol['handleOf']) =>
  protocolOf(`2026-07-28 ${name}`, () => stateless(parts.client.url, capabilities), handleOf);

const older = (
  version: string,
  name: string,
  capabilities: object,
  handleOf: Protocol['handleOf'],
  fields?: object,
) =>
  protocolOf(`${version} ${name}`, () => session(parts.client.url, version, capabilities), handleOf, fields);

const plainHandle = ({ result }: any) => result.structuredContent.token;
const PROTOCOLS: Protocol[] = [
  current('tasks', TASKS, ({ result }) => result.taskId),
  current('plain', {}, plainHandle),
  current('SEP-1391', TOKENS, ({ result }) => result.operation.token),
  current('two-stage', JOBS, ({ result }) => result.data.job_id),
  older('2025-11-25', 'tasks', {}, ({ result }) => result.task.taskId, { task: {} }),
  older('2025-11-25', 'SEP-1391', TOKENS, ({ result }) => result.operation.token),
  older('2025-11-25', 'two-stage', JOBS, ({ result }) => result.data.job_id),
  ...VERSIONS.map((version) => older(version, 'plain', {}, plainHandle)),
];

const metaOf = (key: unknown) => ({ _meta: { [META]: key } });
const waitsOf = (name: string) => (name.endsWith('plain') ? { wait: false } : {});

test.each(PROTOCOLS.map((protocol) => [protocol.name, protocol] as const))(
  '%s: a call whose answer was lost gives the same handle again, by argument and by _meta',
  async (name, protocol) => {
    const waits = waitsOf(name);
    const key = randomUUID();
    const args = { seconds: 5, label: name, ...waits };
    const [byArgument] = await Promise.all([
      protocol.call('slow_compute', { ...args, idempotency_key: key }),
      protocol.lose('slow_compute', { ...args, idempotency_key: key }),
    ]);
    const handle = protocol.handleOf(byArgument);
    expect(handle).toMatch(/^[0-9a-f]{32}$/);
    await protocol.lose('slow_compute', args, metaOf(key));
    expect(protocol.handleOf(await protocol.call('slow_compute', args, metaOf(key)))).toBe(handle);
    const both = await protocol.call('slow_compute', { ...args, idempotency_key: key }, metaOf(key));
    expect(protocol.handleOf(both)).toBe(handle);
    const other = await protocol.call('slow_compute', args, metaOf(randomUUID()));
    expect(protocol.handleOf(other)).not.toBe(handle);
  },
);

/** One of each front of the server. */
const FRONTS = PROTOCOLS.filter(({ name }) => /^2026-07-28 (tasks|plain)|^2025-11-25 tasks/.test(name));

describe.each(FRONTS.map((protocol) => [protocol.name, protocol] as const))('%s', (name, protocol) => {
  const waits = waitsOf(name);

  test('a pipeline takes a key', async () => {
    const args = { items: ['a'], ...waits, idempotency_key: randomUUID() };
    const first = protocol.handleOf(await protocol.call('replayed', args));
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(protocol.handleOf(await protocol.call('replayed', args))).toBe(first);
  });

  test('a short tool takes a key, and works once', async () => {
    const key = randomUUID();
    const who = { name: key };
    const field = name.endsWith('tasks') ? { task: undefined } : {};
    const call = (args: object, more: object = {}) => protocol.call('greet', args, { ...field, ...more });
    const first = await call({ ...who, idempotency_key: key });
    expect(first.result.structuredContent).toEqual({ greeting: `Hello, ${key}!` });
    expect((await call(who, metaOf(key))).result).toEqual(first.result);
    expect(JSON.stringify(await call({ name: 'other', idempotency_key: key }))).toContain('choose a new one');
  });

  test('a key with other arguments is refused, and so are two keys that differ', async () => {
    const key = randomUUID();
    await protocol.call('slow_compute', { seconds: 0, ...waits, idempotency_key: key });
    const reused = await protocol.call('slow_compute', { seconds: 1, ...waits, idempotency_key: key });
    expect(JSON.stringify(reused)).toContain(
      'idempotency key is in use by another request; choose a new one',
    );
    expect(JSON.stringify(reused)).toContain('conflict');
    const differing = await protocol.call(
      'slow_compute',
      { seconds: 0, ...waits, idempotency_key: key },
      metaOf('another'),
    );
    expect(differing.error).toMatchObject({
      code: -32602,
      message: `arguments.idempotency_key: expected the key of params._meta["${META}"], "another", or none; got "${key}"`,
    });
    for (const wrong of ['', 7, 'x'.repeat(201)]) {
      const { error } = await protocol.call('slow_compute', { seconds: 0, ...waits }, metaOf(wrong));
      expect(error).toMatchObject({
        code: -32602,
        message: expect.stringContaining(
          `params._meta["${META}"]: expected a text of 1 to 200 characters; got `,
        ),
      });
      const argument = { seconds: 0, ...waits, idempotency_key: wrong };
      expect(JSON.stringify(await protocol.call('slow_compute', argument))).toContain(
        'arguments.idempotency_key: expected a text of 1 to 200 characters; got ',
      );
    }
  });

  test('tools/list has the key for every tool of the project, as calls take it', async () => {
    const own = /^operation_/;
    for (const tool of (await protocol.list()).filter(({ name }) => !own.test(name))) {
      expect([tool.name, tool.inputSchema.properties.idempotency_key]).toEqual([
        tool.name,
        expect.objectContaining({ type: 'string', minLength: 1, maxLength: 200 }),
      ]);
    }
  });
});

describe("SEP-1391 with a token of the client's own", () => {
  const protocols = PROTOCOLS.filter(({ name }) => name.endsWith('SEP-1391'));

  test.each(protocols.map((protocol) => [protocol.name, protocol] as const))(
    '%s: a key beside it is refused by name, and starts nothing',
    async (_name, protocol) => {
      const key = randomUUID();
      const token = `arn:aws:states:us-east-1:1:execution/${key}`;
      const operation = { operation: { token } };
      for (const [args, meta] of [
        [{ seconds: 0, idempotency_key: key }, {}],
        [{ seconds: 0 }, { [META]: key }],
      ] as const) {
        const { error } = await protocol.call('slow_compute', args, { ...operation, _meta: meta });
        expect(error).toMatchObject({
          code: -32602,
          message: expect.stringContaining(
            'params.operation.token: expected none in a call with an idempotency key',
          ),
        });
      }
      const own = await protocol.call('slow_compute', { seconds: 0 }, operation);
      expect(protocol.handleOf(own)).toBe(token);
      const byKey = await protocol.call('slow_compute', { seconds: 0, idempotency_key: key });
      expect(protocol.handleOf(byKey)).not.toBe(token);
    },
  );
});

test('HTTP jobs take the key as a header or an argument; two that differ are refused', async () => {
  const { jobs } = parts;
  const key = randomUUID();
  const args = { seconds: 0, label: 'http' };
  const byHeader = await jobs.kickOff('slow_compute', args, { 'idempotency-key': key });
  const byArgument = await jobs.kickOff('slow_compute', { ...args, idempotency_key: key });
  expect(byArgument.body).toMatchObject({
    job_id: byHeader.body.job_id,
    idempotency: { key, replayed: true },
  });
  const differing = await jobs.kickOff(
    'slow_compute',
    { ...args, idempotency_key: key },
    { 'idempotency-key': 'another' },
  );
  expect(differing).toMatchObject({
    status: 400,
    body: {
      type: '/problems/invalid-arguments',
      detail: `arguments.idempotency_key: expected the key of the header Idempotency-Key, "another", or none; got "${key}"`,
    },
  });
  expect((await jobs.kickOff('slow_compute', { seconds: 1, idempotency_key: key })).status).toBe(422);
  const { body: tool } = await jobs.get('/v1/tools/slow_compute');
  const { body: document } = await jobs.get('/openapi.json');
  for (const schema of [tool.input_schema, document.components.schemas['slow_compute.arguments']])
    expect(schema.properties).toHaveProperty('idempotency_key');
  const { body: found } = await jobs.get(`/v1/jobs/${byHeader.body.job_id}`);
  expect(found.job_id).toBe(byHeader.body.job_id);
});

test('one key starts one operation across protocols', async () => {
  const key = randomUUID();
  const args = { seconds: 0, idempotency_key: key };
  const handles = [];
  for (const protocol of PROTOCOLS) {
    const answer = await protocol.call('slow_compute', { ...args, ...waitsOf(protocol.name) });
    handles.push(protocol.handleOf(answer));
  }
  expect(new Set(handles).size).toBe(1);
});

test('the command line takes the key as a flag', async () => {
  const key = randomUUID();
  const call = async (seconds: string) =>
    run(parts, ['call', 'slow_compute', '--detach', '--seconds', seconds, '--idempotency-key', key]);
  const first = await call('20');
  expect(first.code).toBe(0);
  expect((await call('20')).stdout).toBe(first.stdout);
  const refused = await call('21');
  expect(refused.code).not.toBe(0);
  expect(refused.stdout + refused.stderr).toContain('idempotency key is in use by another request');
});
