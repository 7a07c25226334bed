/** Workflows in other namespaces than Longhaul's, and with payloads that a codec encodes. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { newNamespace } from '../support/namespace.js';
import { plainClient } from '../support/protocols/plain.js';
import { protocolClients, untilOver, type ProtocolClient } from '../support/protocols/index.js';
import { stateless } from '../support/protocols/rpc.js';
import { TestStack } from '../support/test-stack.js';
import codec from './odd/codec.js';
import { projectOf, startOddWorker, type OddWorker } from './support.js';

jest.setTimeout(PROCESSES_MS);

const QUEUE = `places-${randomUUID()}`;
const toolsIn = (namespace?: string) => {
  const workflow = (type: string) =>
    `workflow: { type: ${type}, task-queue: ${QUEUE}${namespace === undefined ? '' : `, namespace: ${namespace}`} }`;
  return {
    'asks.yaml': `${workflow('Asks')}
input: { properties: { times: { type: integer } } }
args: [times]
question: { query: question, answer: { update: decide, args: [approved] } }
adopt: true
`,
    'ticks.yaml': `${workflow('Ticks')}
input: { properties: { goal: { type: integer } } }
args: [goal]
progress: { query: progress, map: { progress: at.done, total: at.of, stage: step } }
`,
    'echo.yaml': `${workflow('Echo')}\ninput: { properties: { secret: { type: string } } }\n`,
    'fails.yaml': `${workflow('Fails')}\ninput: { properties: { message: { type: string } } }\nargs: [message]\n`,
  };
};

const plain = (parts: TestStack) => plainClient(stateless(`${parts.base}/mcp`, {}));
/** Answers as often as it is asked, by each client in turn. */
async function answerAll(clients: ProtocolClient[], token: string): Promise<void> {
  const answered = new Set<string>();
  for (const client of clients) {
    const key = await eventually(`${client.name}: it asks`, async () => {
      const reading = await client.read(token);
      return reading?.questions.find((question) => !answered.has(question.key))?.key;
    });
    answered.add(key);
    await client.answer(token, key, { approved: true });
  }
}

describe('another namespace', () => {
  let parts: TestStack;
  let odd: OddWorker;
  let namespace: string;

  beforeAll(async () => {
    namespace = await newNamespace('external', { searchAttributes: false });
    const project = projectOf({
      ...toolsIn(namespace),
      'nowhere.yaml': `workflow: { type: Echo, task-queue: ${QUEUE}, namespace: nowhere-${QUEUE} }\n`,
    });
    [parts, odd] = await Promise.all([
      TestStack.serverOnSharedWorker({ LONGHAUL_PROJECT: project }),
      startOddWorker(QUEUE, namespace),
    ]);
  }, PROCESSES_MS);
  afterAll(async () => {
    await Promise.all([odd?.kill(), parts?.stop()]);
  });

  test('every protocol reads, answers and collects an operation there, also after the server is killed', async () => {
    const clients = protocolClients(parts.base);
    const key = randomUUID();
    const token = await plain(parts).start('asks', { times: clients.length }, key);
    const [server] = parts.parts;
    await server!.end('SIGKILL');
    parts.server();
    await parts.ready();
    await answerAll(clients, token);
    for (const client of clients)
      expect([client.name, (await untilOver(client, token)).result]).toEqual([
        client.name,
        { answers: clients.map(() => 'yes') },
      ]);
    expect(await plain(parts).start('asks', { times: clients.length }, key)).toBe(token);
    await Promise.all(clients.map(async (client) => client.close?.()));
  });

  test('progress and cancel work there', async () => {
    const client = plain(parts);
    const token = await client.start('ticks', { goal: 5 }, randomUUID());
    await eventually('its stage is shown', async () =>
      JSON.stringify((await client.read(token))?.raw).includes('first'),
    );
    await client.cancel(token);
    expect((await untilOver(client, token)).states).toEqual(['canceled']);
  });

  test('one that does not exist is named', async () => {
    await expect(plain(parts).start('nowhere', {}, randomUUID())).rejects.toThrow(
      `no namespace "nowhere-${QUEUE}"`,
    );
  });
});

describe('a payload codec', () => {
  let parts: TestStack | undefined;
  let odd: OddWorker;
  let server: Server | undefined;

  beforeAll(async () => {
    odd = await startOddWorker(QUEUE, 'default', 'codec');
  }, PROCESSES_MS);
  afterEach(async () => {
    await parts?.stop();
    server?.close();
  });
  afterAll(() => odd?.kill());

  const start = async (environment: Record<string, string>) => {
    const project = projectOf(toolsIn());
    parts = await TestStack.serverOnSharedWorker({ LONGHAUL_PROJECT: project, ...environment });
    return plain(parts);
  };
  /** Runs all that has values: arguments, a query, an update, results and failures. */
  async function runAll(client: ProtocolClient): Promise<void> {
    const asks = await client.start('asks', { times: 1 }, randomUUID());
    await answerAll([client], asks);
    expect((await untilOver(client, asks)).result).toEqual({ answers: ['yes'] });
    const echo = await client.start('echo', { secret: 'hidden' }, randomUUID());
    expect((await untilOver(client, echo)).result).toEqual({ args: [{ secret: 'hidden' }] });
    const { events } = await (await parts!.temporal()).workflow.getHandle(echo).fetchHistory();
    expect(JSON.stringify(events)).not.toContain(Buffer.from('"hidden"').toString('base64').slice(2, -4));
    const fails = await client.start('fails', { message: 'out of paper' }, randomUUID());
    expect(JSON.stringify((await untilOver(client, fails)).raw)).toContain('out of paper');
  }

  test('of a module encodes what the workers get, and decodes what they give', async () => {
    await runAll(await start({ LONGHAUL_PAYLOAD_CODEC: resolve('test/external-workflows/odd/codec.ts') }));
  });

  test('of a codec server does the same', async () => {
    const authorizations = new Set<string | undefined>();
    const mapped = (metadata: object = {}, map: (value: any) => unknown) =>
      Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, map(value)]));
    const bytes = (value: string) => Buffer.from(value, 'base64');
    const base64 = (value: Uint8Array) => Buffer.from(value).toString('base64');
    const serve = async (request: IncomingMessage, response: ServerResponse) => {
      authorizations.add(request.headers.authorization);
      const { payloads } = JSON.parse(await text(request)) as { payloads: any[] };
      const verb = request.url === '/v1/encode' ? 'encode' : 'decode';
      const changed = await codec[verb](
        payloads.map(({ metadata, data }) => ({
          metadata: mapped(metadata, bytes) as any,
          data: bytes(data),
        })),
      );
      const answer = changed.map(({ metadata, data }) => ({
        ...{ metadata: mapped(metadata ?? {}, base64), data: base64(data ?? Buffer.of()) },
      }));
      response.end(JSON.stringify({ payloads: answer }));
    };
    server = createServer((...exchange) => void serve(...exchange)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await runAll(
      await start({
        LONGHAUL_PAYLOAD_CODEC: `http://127.0.0.1:${port}/v1/`,
        LONGHAUL_PAYLOAD_CODEC_AUTHORIZATION: 'Bearer key',
      }),
    );
    expect([...authorizations]).toEqual(['Bearer key']);
  });

  test('that is missing leaves the operation readable, and says what it lacks', async () => {
    const client = await start({});
    const token = await client.start('echo', { secret: 'shown' }, randomUUID());
    const { states, raw } = await untilOver(client, token);
    expect(states).toEqual(['completed']);
    expect(JSON.stringify(raw)).toContain('binary/reversed');
  });

  test('that is no codec, or is away, is named', async () => {
    const project = projectOf({ ...toolsIn() });
    const stack = await TestStack.serverAlone({
      LONGHAUL_PROJECT: project,
      LONGHAUL_PAYLOAD_CODEC: resolve('test/external-workflows/odd/activities.ts'),
    });
    await eventually(
      'the server ends',
      () => stack.parts[0]?.process.exitCode === 2 || stack.parts[0]?.process.exitCode === 1,
    );
    expect(stack.parts[0]!.output()).toContain('to export a PayloadCodec as default');
    await stack.stop();
    const client = await start({ LONGHAUL_PAYLOAD_CODEC: 'http://127.0.0.1:9/' });
    await expect(client.start('echo', {}, randomUUID())).rejects.toThrow(
      "http://127.0.0.1:9 can't encode values",
    );
  });
});
