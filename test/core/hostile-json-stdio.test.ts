import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { eventually, TestHome, type CommandRun } from '../stack/cli-process.js';
import { STACK_MS } from '../support/limits.js';
import { TASKS, WireClient } from '../support/mcp.js';
import { FIXTURES } from '../support/test-stack.js';
import { bodyOf, refusesEverything, refusesNulls, type Send } from './hostile-json.js';

jest.setTimeout(STACK_MS);

let home: TestHome;
beforeAll(async () => {
  home = await TestHome.create();
});
afterAll(() => home?.remove());

/** Own stack: the first process starts it in its home, on the run's Temporal. */
const ENVIRONMENT = {
  LONGHAUL_PROJECT: FIXTURES,
  TEMPORAL_ADDRESS: process.env['TEMPORAL_ADDRESS'],
  LONGHAUL_TASK_QUEUE: `stdio-${randomUUID()}`,
  LONGHAUL_WORKER_VERSIONING: 'false',
};

const ENVELOPE = JSON.stringify(new WireClient('', TASKS).envelope('x').params._meta);

describe.each(['2026-07-28', '2025-11-25'])('%s over stdio', (revision) => {
  let run: CommandRun;
  let lastId = 0;
  const answers = (): any[] =>
    run
      .stdout()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const write = (line: string) => void run.process.stdin!.write(`${line}\n`);
  const send: Send = (method, params) => {
    const id = (lastId += 1);
    write(bodyOf(method, revision === '2026-07-28' ? `"_meta":${ENVELOPE},${params}` : params, id));
    return eventually(`an answer to ${method}`, () => answers().find((one) => one.id === id));
  };
  beforeAll(async () => {
    run = home.run(['stdio'], ENVIRONMENT);
    if (revision === '2026-07-28') return;
    const client = '"capabilities":{},"clientInfo":{"name":"hostile","version":"1"}';
    await send('initialize', `"protocolVersion":"${revision}",${client}`);
    write('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  });
  afterAll(async () => {
    run.process.stdin!.end();
    expect(await run.ended).toBe(0);
  });

  test('what is refused over HTTP is refused, with the ID of its request', () => refusesEverything(send));

  test('null for what is required is -32602 and names it', () => refusesNulls(send));

  if (revision !== '2026-07-28')
    test('a second initialize whose capabilities are invalid is -32602', async () => {
      const params = `"protocolVersion":"${revision}","clientInfo":{"name":"hostile","version":"1"}`;
      const { error } = await send('initialize', `${params},"capabilities":{"elicitation":"x"}`);
      expect(error).toEqual({ code: -32602, message: 'Invalid initialize request' });
    });

  test('a message that is none of JSON-RPC, and one over 10 MiB, are answered; then all is as before', async () => {
    write('{"jsonrpc":"2.0","id":"no params","method":"tools/list","params":null}');
    const refused = await eventually('it is answered', () => answers().find(({ id }) => id === 'no params'));
    expect(refused.error).toMatchObject({
      code: -32600,
      message: expect.stringContaining('params: expected an object; got null'),
    });
    write(`{"jsonrpc":"2.0","id":"long","method":"tools/list","params":{"x":"${'x'.repeat(11 << 20)}"}}`);
    const long = await eventually('it is answered', () => answers().find(({ id }) => id === null));
    expect(long.error).toMatchObject({ code: -32600, message: expect.stringContaining('10485760 bytes') });
    expect((await send('tools/list', '"x":1')).result.tools).not.toEqual([]);
  });
});
