/** Standard input: requests at once, cut, in batches, no JSON, and the end of the input behind them. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { STACK_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';
import { StdioServers, type StdioProcess } from '../support/stdio-servers.js';

jest.setTimeout(STACK_MS);

let stdio: StdioServers;
beforeAll(async () => {
  stdio = await StdioServers.open();
});
afterAll(() => stdio?.stop());

type Id = string | number;

const wire = new WireClient('', {});
const current = (id: Id, method: string, params: object = {}) =>
  JSON.stringify({ ...wire.envelope(method, { ...params }), id });
const older = (id: Id, method: string, params: object = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });
const initialize = (version = '2025-11-25') =>
  older('initialize', 'initialize', {
    protocolVersion: version,
    capabilities: {},
    clientInfo: { name: 'longhaul-tests', version: '1' },
  });
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
const greet = { name: 'greet', arguments: { name: 'Zoë' } };

/** Answers, those of a batch one by one. */
const answersOf = (run: StdioProcess): any[] =>
  run
    .stdout()
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => JSON.parse(line))
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
  // Whether one is lost depends on timing.
  const RUNS = Array.from({ length: 5 }, (_, run) => run);

  test.each(RUNS)('of 2026-07-28 (%i)', async () => {
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

  test.each(RUNS)('of 2025-11-25 (%i)', async () => {
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
  const open = async () => {
    const run = stdio.run();
    const write = (input: string | Buffer) => void run.process.stdin!.write(input);
    for (const line of opening) write(`${line}\n`);
    write(`${request('first', 'tools/list')}\n`);
    await eventually('it is answered', () => answersOf(run).some(({ id }) => id === 'first'));
    const refusals = () => answersOf(run).filter(({ id }) => id === null);
    return { run, write, refusals };
  };

  test('gets -32700 with the ID null for what is no JSON, and the next request is answered', async () => {
    const { run, write, refusals } = await open();
    const lines = [
      `\uFEFF${request('bom', 'tools/list')}`,
      '{"jsonrpc":"2.0","id":"half",',
      'Content-Length: 20',
      Buffer.from(request('latin1', 'tools/call', greet), 'latin1'),
      Buffer.from([0xff, 0xfe, 0x00]),
    ];
    for (const line of lines) write(Buffer.concat([Buffer.from(line as string), Buffer.from('\n')]));
    write(`${request('next', 'tools/list')}\n`);
    await eventually('it is answered', () => answersOf(run).some(({ id }) => id === 'next'));
    expect(refusals().map(({ error }) => error.code)).toEqual(lines.map(() => -32700));
    expect(await run.end()).toBe(0);
  });

  test('may cut its requests anywhere, and send several in one write, with CRLF and blank lines', async () => {
    const { run, write, refusals } = await open();
    const bytes = Buffer.from(`${request('cut', 'tools/call', greet)}\n`);
    // In the middle of a character.
    const at = bytes.indexOf('ë') + 1;
    await new Promise<unknown>((settle) => run.process.stdin!.write(bytes.subarray(0, at), settle));
    write(bytes.subarray(at));
    write(`\n\r\n  \n${request('one', 'tools/list')}\r\n\n${request('two', 'tools/list')}\n`);
    await eventually('all are answered', () => ids(answersOf(run)).includes('two'));
    await eventually('all are answered', () => ids(answersOf(run)).includes('one'));
    const cut = await eventually('all are answered', () => answersOf(run).find(({ id }) => id === 'cut'));
    expect(JSON.stringify(cut.result)).toContain('Zoë');
    expect(refusals()).toEqual([]);
    expect(await run.end()).toBe(0);
  });

  test('gets -32600 for a request with an ID that cannot be given back', async () => {
    const { run, write, refusals } = await open();
    write(`${request(0, 'tools/list').replace('"id":0', '"id":9007199254740993')}\n`);
    const [refused] = await eventually('it is answered', () =>
      refusals().length > 0 ? refusals() : undefined,
    );
    expect(refused.error).toMatchObject({ code: -32600, message: expect.stringContaining('id: expected') });
    expect(await run.end()).toBe(0);
  });
});
