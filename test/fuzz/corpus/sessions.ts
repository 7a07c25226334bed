/** MCP 2025-11-25, 2025-06-18 and 2025-03-26: sessions, streams, tasks, questions, batches. */
import { LegacyClient, VERSIONS } from '../../revision-2025-11-25/wire.js';
import { eventually } from '../../stack/cli-process.js';
import type { CorpusBuilder, Protocol } from './entry.js';

export const sessions: Protocol = {
  name: '2025-11-25',
  operations: 5,
  async build(corpus) {
    for (const version of VERSIONS) await addSession(corpus, version);
  },
};

async function addSession(corpus: CorpusBuilder, version: string): Promise<void> {
  const client = await LegacyClient.open(`${corpus.base}/mcp`, version, {
    elicitation: {},
    ...(version === '2025-11-25' ? { tasks: { requests: { elicitation: { create: {} } } } } : {}),
  });
  corpus.harvest.push(client.session);
  const initialize = client.message('initialize', {
    protocolVersion: version,
    capabilities: { elicitation: {} },
    clientInfo: { name: 'fuzz', version: '1' },
  });
  const { 'mcp-session-id': _session, ...headers } = client.headers();
  corpus.add('initialize', 'POST', '/mcp', headers, initialize);
  corpus.posted(client, 'initialized', { jsonrpc: '2.0', method: 'notifications/initialized' });
  corpus.posted(client, 'cancelled', {
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: 1, reason: 'r' },
  });
  for (const method of ['ping', 'tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'])
    corpus.older(client, method, method === 'ping' ? {} : { _meta: { progressToken: 1 } });
  corpus.older(client, 'prompts/get', { name: 'a' });
  corpus.older(client, 'logging/setLevel', { level: 'debug' });
  corpus.older(client, 'tools/call', {
    name: 'greet',
    arguments: { name: 'Ada' },
    _meta: { progressToken: 'p' },
  });
  corpus.older(client, 'tools/call', { name: 'slow_compute', arguments: { seconds: 0, label: 'x' } }, true);

  const stream = await client.stream(
    client.message('tools/call', { name: 'test_elicitation', arguments: { message: 'm' } }),
  );
  // 2025-03-26 has no questions: its call is answered by how to answer.
  if (version !== '2025-03-26') addAnswers(corpus, client, await firstQuestion(() => stream.messages()));
  else await stream.ended;
  const eventIds = corpus.keep(stream.events.flatMap(({ id }) => id ?? []));
  stream.close();
  const listening = { ...client.headers(), accept: 'text/event-stream' };
  corpus.add('GET stream', 'GET', '/mcp', listening, undefined, true);
  corpus.add(
    'GET resumed',
    'GET',
    '/mcp',
    { ...listening, 'last-event-id': eventIds.at(-1)! },
    undefined,
    true,
  );
  corpus.add('DELETE', 'DELETE', '/mcp', client.headers());

  if (version === '2025-03-26')
    corpus.posted(client, 'batch', [
      client.message('ping'),
      client.message('tools/list'),
      { jsonrpc: '2.0', method: 'x' },
    ]);
  if (version !== '2025-11-25') return;
  const done = await client.task('slow_compute', { seconds: 0, label: 'l' }, { ttl: 60_000 });
  const asking = await client.task('confirm_delete', { filename: 'a' }, { ttl: 60_000 });
  await client.until(done.taskId, 'completed');
  await client.until(asking.taskId, 'input_required');
  const listed = corpus.keep(await client.request('tasks/list', {}));
  corpus.older(client, 'tools/call', {
    name: 'slow_compute',
    arguments: { seconds: 0, label: 'l' },
    task: { ttl: 60_000 },
  });
  corpus.older(client, 'tasks/list', {
    ...(listed.result?.nextCursor ? { cursor: listed.result.nextCursor } : {}),
  });
  for (const { taskId } of [done, asking]) corpus.older(client, 'tasks/get', { taskId });
  corpus.older(client, 'tasks/result', { taskId: done.taskId });
  corpus.older(client, 'tasks/result', { taskId: asking.taskId }, true);
  corpus.older(client, 'tasks/cancel', { taskId: done.taskId });
  const uri = `longhaul://operations/${done.taskId}/result`;
  corpus.older(client, 'resources/read', { uri });
  corpus.older(client, 'resources/subscribe', { uri });
  corpus.older(client, 'resources/unsubscribe', { uri });
}

function addAnswers(corpus: CorpusBuilder, client: LegacyClient, { id }: { id: string }): void {
  corpus.keep(id);
  const result = { action: 'accept', content: { username: 'ada', email: 'a@example.com' } };
  corpus.posted(client, 'answer', { jsonrpc: '2.0', id, result });
  corpus.posted(client, 'refusal', { jsonrpc: '2.0', id, error: { code: -1, message: 'no' } });
}

async function firstQuestion(messages: () => any[]): Promise<any> {
  return eventually('a question', () => messages().find(({ method }) => method === 'elicitation/create'));
}
