/** Standard input: requests at once, cut, in batches, no JSON, and the end of the input behind them. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { initializeParams } from '../revision-2025-11-25/wire.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TASKS, WireClient } from '../support/mcp.js';
import { StdioServers, type StdioProcess } from '../support/stdio-servers.js';
import { bodyOf, refusesEverything, refusesNulls, type Send } from './hostile-json.js';

const stdio = await forAllTests(StdioServers.open());

type Id = string | number;

const wire = new WireClient('', {});
const current = (id: Id, method: string, params: object = {}) =>
  JSON.stringify({ ...wire.envelope(method, { ...params }), id });
const older = (id: Id, method: string, params: object = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });
const initialize = (version = '2025-11-25') => older('initialize', 'initialize', initializeParams(version));
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
/** The fields of a request of 2026-07-28, as text. */
const ENVELOPE = `"_meta":${JSON.stringify(new WireClient('', TASKS).envelope('x').params._meta)}`;
const greet = { name: 'greet', arguments: { name: 'Zoë' } };

/** Answers, those of a batch one by one. */
const answersOf = (run: StdioProcess): any[] =>
  run
    .messages()
    .flat()
    .filter(({ method }) => method === undefined);

/** Pipes an input in at once; the answers when the process has ended. */
async function piped(input: string | Buffer): Promise<any[]> {
  const run = stdio.run();
  run.process.stdin!.end(input);
  expect(await run.ended).toBe(0);
  return answersOf(run);
}

const ids = (answers: any[]) => answers.map(({ id }) => id).sort();

describe('requests piped in at once are all answered before the process ends', () => {
  test('of 2026-07-28', async () => {
    const requests = [
      current('a', 'server/discover'),
      current('b', 'tools/list'),
      current('c', 'tools/call', greet),
      current('d', 'tasks/get', { taskId: 'nonesuch' }),
      current('e', 'nonesuch'),
      current('f', 'subscriptions/listen', { notifications: {} }),
    ];
    const answers = await piped(requests.join('\n'));
    expect(ids(answers)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(answers.find(({ id }) => id === 'b').result.tools).not.toEqual([]);
  });

  test('of 2025-11-25', async () => {
    const requests = [
      older('early', 'ping'),
      initialize(),
      INITIALIZED,
      older('b', 'tools/list'),
      older('c', 'tools/call', greet),
      older('d', 'nonesuch'),
    ];
    const answers = await piped(`${requests.join('\r\n')}\r\n`);
    expect(ids(answers)).toEqual(['b', 'c', 'd', 'early', 'initialize']);
    expect(answers.find(({ id }) => id === 'initialize').result.protocolVersion).toBe('2025-11-25');
  });

  test('in a batch, and with one ID for all', async () => {
    const batch = `[${['x', 'x', 'y'].map((id) => older(id, 'tools/list')).join(', ')}]`;
    const lines = [initialize('2025-03-26'), INITIALIZED, batch, older('x', 'ping'), older('x', 'ping')];
    expect(ids(await piped(lines.join('\n')))).toEqual(['initialize', 'x', 'x', 'x', 'x', 'y']);
  });

  test('also a wait, which says how to continue', async () => {
    const args = { seconds: 600, wait: true, idempotency_key: randomUUID() };
    const [answer] = await piped(current('wait', 'tools/call', { name: 'slow_compute', arguments: args }));
    const { token, status } = answer.result.structuredContent;
    expect(['queued', 'running']).toContain(status);
    const cancel = { name: 'operation_cancel', arguments: { token } };
    expect(ids(await piped(current('cancel', 'tools/call', cancel)))).toEqual(['cancel']);
  });
});

describe.each([
  ['2026-07-28', current, [] as string[]],
  ['2025-11-25', older, [initialize(), INITIALIZED]],
] as const)('over stdio, a client of %s', (_revision, request, opening) => {
  let run: StdioProcess;
  beforeAll(async () => {
    run = stdio.run();
    for (const line of opening) write(`${line}\n`);
    await answered('first', `${request('first', 'tools/list')}\n`);
  });
  afterAll(async () => {
    expect(await run.end()).toBe(0);
  });

  const write = (input: string | Buffer) => void run.process.stdin!.write(input);
  const refusals = () => answersOf(run).filter(({ id }) => id === null);
  /** Writes an input, and waits for the answer to one of its requests. */
  const answered = (id: Id, input: string | Buffer): Promise<any> => {
    write(input);
    return eventually(`an answer to ${id}`, () => answersOf(run).find((one) => one.id === id));
  };
  /** Codes of the refusals that an input adds. Its last line is a request with this ID, which is served. */
  const refused = async (id: Id, lines: (string | Buffer)[]): Promise<any[]> => {
    const before = refusals().length;
    for (const line of lines) write(Buffer.concat([Buffer.from(line as string), Buffer.from('\n')]));
    expect(await answered(id, `${request(id, 'tools/list')}\n`)).toHaveProperty('result');
    return refusals()
      .slice(before)
      .map(({ error }) => error);
  };

  test('gets -32700 with the ID null for what is no JSON, and the next request is answered', async () => {
    const lines = [
      `\uFEFF${request('bom', 'tools/list')}`,
      '{"jsonrpc":"2.0","id":"half",',
      'Content-Length: 20',
      Buffer.from(request('latin1', 'tools/call', greet), 'latin1'),
      Buffer.from([0xff, 0xfe, 0x00]),
    ];
    expect((await refused('next', lines)).map(({ code }) => code)).toEqual(lines.map(() => -32700));
  });

  test('gets -32600 for a request that cannot be answered, is invalid or too long', async () => {
    const huge = 'x'.repeat(11 << 20);
    const errors = await refused('after', [
      request(0, 'tools/list').replace('"id":0', '"id":9007199254740993'),
      `{"jsonrpc":"2.0","id":"long","method":"tools/list","params":{"x":"${huge}"}}`,
    ]);
    expect(errors).toMatchObject([
      { code: -32600, message: expect.stringContaining('id: expected') },
      { code: -32600, message: expect.stringContaining('10485760 bytes') },
    ]);
    const noParams = '{"jsonrpc":"2.0","id":"no params","method":"tools/list","params":null}\n';
    expect((await answered('no params', noParams)).error).toMatchObject({
      code: -32600,
      message: expect.stringContaining('params: expected an object; got null'),
    });
  });

  test('gets the refusals of hostile JSON that a client over HTTP gets, with the ID of its request', async () => {
    let last = 0;
    const send: Send = (method, params) => {
      const id = (last += 1);
      return answered(id, `${bodyOf(method, request === current ? `${ENVELOPE},${params}` : params, id)}\n`);
    };
    await refusesEverything(send);
    await refusesNulls(send);
    if (request === current) return;
    const again = `"protocolVersion":"2025-11-25","clientInfo":{"name":"hostile","version":"1"}`;
    const { error } = await send('initialize', `${again},"capabilities":{"elicitation":"x"}`);
    expect(error).toEqual({
      code: -32602,
      message: expect.stringContaining('params.capabilities.elicitation: Invalid input: expected object'),
    });
  });
});
