/** Links to resources in results: blocks for clients that are known to take them, text for all others, on every protocol. */
import { describe, expect, test } from '@jest/globals';
import { linkTransform } from '../../mcp-server/links/links-as-text.js';
import { LegacyClient, secondServer } from '../revision-2025-11-25/wire.js';
import { eventually } from '../stack/cli-process.js';
import { afterThisTest, forAllTests } from '../support/for-all-tests.js';
import { TASKS } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';

/** Default client name of the official Python SDK, and so of LangChain's adapters and many others. */
const UNKNOWN = 'mcp';
const KNOWN = 'claude-code';
const OPTED_IN = {
  asyncTools: { experimental: { asyncTools: {} } },
  twoStage: { experimental: { twoStage: {} } },
};
const CALL = { path: 'airports.csv', group_by: ['state'] };

const parts = await forAllTests(TestStack.shared());

/** A client of one protocol: runs the tool by it, and gives everything that the server said of the result. */
type Run = (name: string, tool: string, args: object) => Promise<{ results: any[]; all: unknown }>;

const isEnd = ({ method, params }: any) =>
  (method === 'notifications/tasks' && params.status === 'completed') ||
  method === 'notifications/tool_result';

const current = (capabilities: object, name: string) => parts.client.with(capabilities, name);

const CURRENT: Record<string, Run> = {
  async plain(name, tool, args) {
    const client = current({}, name);
    const { result } = await client.request('tools/call', { name: tool, arguments: { ...args, wait: true } });
    const { token } = result.structuredContent;
    const views = [];
    for (const view of ['summary', 'result'])
      views.push(
        (await client.request('tools/call', { name: 'operation_get', arguments: { token, view } })).result,
      );
    return { results: [result, ...views], all: [result, views] };
  },
  async tasks(name, tool, args) {
    const client = current(TASKS, name);
    const taskId = await client.start(tool, args);
    const listened = await client.listen({ taskIds: [taskId] });
    const task = await client.until(taskId, 'completed');
    const notified = await eventually('the end is notified', () => listened.messages.find(isEnd));
    listened.close();
    return { results: [task.result, notified.params.result], all: [task, listened.messages] };
  },
  async 'SEP-1391'(name, tool, args) {
    const client = current(OPTED_IN.asyncTools, name);
    const started = await client.request('tools/call', { name: tool, arguments: args });
    const { token } = started.result.operation;
    const answer = await eventually('there is a result', async () => {
      const { result } = await client.request('tools/async/result', { token });
      return result;
    });
    return { results: [answer.result], all: answer };
  },
  async 'two-stage returns'(name, tool, args) {
    const client = current(OPTED_IN.twoStage, name);
    const keyed = { ...args, idempotency_key: `${name} ${tool} ${Math.random()}` };
    const start = async () => (await client.request('tools/call', { name: tool, arguments: keyed })).result;
    const { job_id } = (await start()).data;
    const listened = await client.listen({ jobIds: [job_id] });
    const notified = await eventually('the end is notified', () => listened.messages.find(isEnd));
    listened.close();
    const polled = (await client.request('tools/poll_result', { job_id })).result;
    const again = await start();
    return {
      results: [notified.params.result, polled.data.result, again],
      all: [listened.messages, polled, again],
    };
  },
};

/** Protocols of the older revisions: all of 2025-11-25, and the plain contract of the revision without links. */
const older = (version: string): Record<string, Run> => ({
  async plain(name, tool, args) {
    const client = await LegacyClient.open(parts.client.url, version, {}, name);
    const { result } = await client.call(tool, { ...args, wait: true });
    const { token } = result.structuredContent;
    const views = [];
    for (const view of ['summary', 'result'])
      views.push((await client.call('operation_get', { token, view })).result);
    return { results: [result, ...views], all: [result, views] };
  },
  async 'SEP-1391'(name, tool, args) {
    const client = await LegacyClient.open(parts.client.url, version, OPTED_IN.asyncTools, name);
    const { token } = (await client.call(tool, args)).result.operation;
    const answer = await eventually('there is a result', async () => {
      const { result } = await client.request('tools/async/result', { token });
      return result;
    });
    return { results: [answer.result], all: answer };
  },
  async 'two-stage returns'(name, tool, args) {
    const client = await LegacyClient.open(parts.client.url, version, OPTED_IN.twoStage, name);
    const stream = await client.listen();
    const { job_id } = (await client.call(tool, args)).result.data;
    const notified = await eventually('the end is notified', () => stream.messages().find(isEnd));
    stream.close();
    const polled = (await client.request('tools/poll_result', { job_id })).result;
    return { results: [notified.params.result, polled.data.result], all: [stream.messages(), polled] };
  },
  async tasks(name, tool, args) {
    const client = await LegacyClient.open(parts.client.url, version, {}, name);
    const { taskId } = await client.task(tool, args);
    const { result } = await client.request('tasks/result', { taskId });
    return { results: [result], all: result };
  },
});

const PROTOCOLS: [version: string, protocol: string, run: Run][] = [
  ...Object.entries(CURRENT).map(([protocol, run]): [string, string, Run] => ['2026-07-28', protocol, run]),
  ...Object.entries(older('2025-11-25')).map(([protocol, run]): [string, string, Run] => [
    '2025-11-25',
    protocol,
    run,
  ]),
  ['2025-03-26', 'plain', older('2025-03-26')['plain']!],
];

const textsOf = ({ content }: any): string => content.map(({ text = '' }: any) => text).join('\n');
const linksOf = ({ content }: any): any[] => content.filter(({ type }: any) => type === 'resource_link');
const ADDRESS = /longhaul:\/\/operations\/[^/\s]+\/(artifacts\/[\w.]+\w|result)/g;

describe.each(PROTOCOLS)('in %s, %s', (version, _protocol, run) => {
  test('an unknown client gets no link, and each address once as text', async () => {
    const { results, all } = await run(UNKNOWN, 'analyze_dataset', CALL);
    expect(JSON.stringify(all)).not.toContain('resource_link');
    for (const result of results) {
      const addresses = textsOf(result).match(ADDRESS);
      expect(addresses).toEqual([expect.stringMatching(/artifacts\/result\.parquet$/)]);
      expect(JSON.stringify(result.structuredContent)).toContain(addresses![0]);
    }
  });

  test('an address that the text of the tool does not name is not lost', async () => {
    const { results, all } = await run(UNKNOWN, 'large_values', { resultBytes: 1024 * 1024 + 1 });
    expect(JSON.stringify(all)).not.toContain('resource_link');
    for (const result of results)
      expect(textsOf(result)).toMatch(
        /<data>"result\.json: longhaul:\S+\/result \(application\/json, \d+ bytes\)"<\/data>$/,
      );
  });

  test('a client that is known to take links gets them, if the version has them', async () => {
    const { results } = await run(KNOWN, 'analyze_dataset', CALL);
    for (const result of results) expect(linksOf(result)).toHaveLength(version === '2025-03-26' ? 0 : 1);
  });
});

test('the structured content of plain tools names what their result does not', async () => {
  const client = current({}, UNKNOWN);
  const args = { resultBytes: 1024 * 1024 + 1, wait: true };
  const { result } = await client.request('tools/call', { name: 'large_values', arguments: args });
  const { links } = result.structuredContent;
  expect(links).toEqual([
    {
      name: 'result.json',
      uri: expect.any(String),
      mime_type: 'application/json',
      bytes: expect.any(Number),
    },
  ]);
  const read = await client.request('resources/read', { uri: links[0].uri });
  expect(JSON.parse(read.result.contents[0].text).text).toHaveLength(1024 * 1024 + 1);
});

test('an address that another one begins with is a different one', () => {
  const uri = 'longhaul://operations/t/artifacts/a';
  const asText = linkTransform('never', KNOWN);
  const textFor = (text: string) =>
    textsOf(
      asText({
        content: [
          { type: 'text', text },
          { type: 'resource_link', name: 'a', uri, size: 7 },
        ],
      }),
    );
  for (const text of [uri, `In ${uri}.`, `(${uri}), and more`, `${uri}\nnext`])
    expect(textFor(text)).toBe(text);
  for (const text of ['', `${uri}.txt`, `${uri}b`, `${uri}%20b`])
    expect(textFor(text)).toBe(`${text}\n<data>"a: ${uri} (7 bytes)"</data>`);
});

test('a wait that is resumed where its stream broke ends without links too', async () => {
  const client = await LegacyClient.open(parts.client.url, '2025-11-25', {}, UNKNOWN);
  const { token } = (await client.call('analyze_dataset', { ...CALL, wait: true })).result.structuredContent;
  const stream = await client.stream(
    client.message('tools/call', { name: 'operation_get', arguments: { token, view: 'result', wait: true } }),
  );
  await stream.ended;
  const id = stream.events.findLast((event) => event.id !== undefined && event.data === undefined)?.id;
  const resumed = await client.listen(id);
  await resumed.ended;
  const { result } = resumed.messages().at(-1);
  expect(linksOf(result)).toEqual([]);
  expect(textsOf(result).match(ADDRESS)).toHaveLength(1);
});

test('the setting holds for every client', async () => {
  const { url, part } = await secondServer(parts, { LONGHAUL_RESOURCE_LINKS: 'always' });
  afterThisTest(() => part.end());

  const client = await LegacyClient.open(url, '2025-11-25', {}, UNKNOWN);
  const { result } = await client.call('analyze_dataset', { ...CALL, wait: true });
  expect(linksOf(result)).toHaveLength(1);
});
