/** MCP 2026-07-28: discovery, tools, tasks, subscriptions, resources, prompts, and sealed states of questions. */
import { TASKS_AND_FORMS, WireClient } from '../../support/mcp.js';
import type { Protocol } from './entry.js';

const ASKING = 'test_input_required_result_request_state';

export const revision20260728: Protocol = {
  name: '2026-07-28',
  operations: 4,
  async build(corpus) {
    const client = new WireClient(`${corpus.base}/mcp`, TASKS_AND_FORMS);
    const done = await client.start('slow_compute', { seconds: 0, label: 'fuzz' });
    const asking = await client.start('confirm_delete', { filename: 'a' });
    const cancelled = await client.start('confirm_delete', { filename: 'b' });
    await client.request('tasks/cancel', { taskId: cancelled });
    await client.until(asking, 'input_required');
    await client.until(done, 'completed');
    const asker = client.with({ elicitation: {} });
    const asked = await asker.request('tools/call', { name: ASKING, arguments: {} });
    const { requestState, inputRequests = {} } = asked.result ?? {};
    if (requestState === undefined) throw new Error(`no state: ${JSON.stringify(asked)}`);
    corpus.keep([asked, done, asking, cancelled]);
    const resource = `longhaul://operations/${done}/result`;
    corpus.keep(resource);

    corpus.current(client, 'server/discover');
    corpus.current(client, 'tools/list');
    corpus.current(client, 'tools/call', { name: 'greet', arguments: { name: 'Ada' } });
    corpus.current(client, 'tools/call', {
      name: 'slow_compute',
      arguments: { seconds: 0, label: 'l', idempotency_key: 'fuzz-1' },
      _meta: { progressToken: 'p' },
    });
    corpus.current(asker, 'tools/call', { name: ASKING, arguments: {} }, true);
    corpus.current(asker, 'tools/call', {
      name: ASKING,
      arguments: {},
      requestState,
      inputResponses: Object.fromEntries(
        Object.keys(inputRequests).map((key) => [key, { action: 'accept', content: { ok: true } }]),
      ),
    });
    for (const taskId of [done, asking, cancelled]) corpus.current(client, 'tasks/get', { taskId });
    corpus.current(client, 'tasks/update', {
      taskId: asking,
      inputResponses: { 'input-1': { action: 'accept', content: { confirm: false } } },
    });
    corpus.current(client, 'tasks/cancel', { taskId: cancelled });
    const notifications = {
      taskIds: [done, asking],
      resourceSubscriptions: [resource],
      toolsListChanged: true,
    };
    corpus.current(client, 'subscriptions/listen', { notifications }, true);
    corpus.current(client, 'resources/list');
    corpus.current(client, 'resources/templates/list');
    corpus.current(client, 'resources/read', { uri: resource });
    corpus.current(client, 'resources/read', { uri: 'longhaul://tools/greet/documentation' });
    corpus.current(client, 'prompts/list');
    corpus.current(client, 'prompts/get', { name: 'a', arguments: { b: 'c' } });
    corpus.current(client, 'completion/complete', {
      ref: { type: 'ref/prompt', name: 'a' },
      argument: { name: 'b', value: 'c' },
    });
    corpus.add('notifications/cancelled', 'POST', '/mcp', client.headers('notifications/cancelled'), {
      ...client.envelope('notifications/cancelled', { requestId: 1, reason: 'r' }),
      id: undefined,
    });
  },
};
