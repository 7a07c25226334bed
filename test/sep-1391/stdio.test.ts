/** SEP-1391 over stdio. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { StdioServers } from '../support/stdio-servers.js';
import { AsyncClient, connectStdio, OPTED_IN, WITH_FORMS, type Wire } from './client.js';

/** One process for each kind of client, shared by tests that don't need their own. */
let shared: Record<'legacy' | 'current', Wire>;
const stdio = await forAllTests(StdioServers.open());
beforeAll(async () => {
  shared = { legacy: await connect('legacy'), current: await connect('current') };
});

function connect(revision: 'legacy' | 'current', capabilities: object = OPTED_IN) {
  return connectStdio(stdio.run().process, revision, capabilities);
}

describe.each(['legacy', 'current'] as const)('without the token, with a %s client', (revision) => {
  test('the description says that the notification cancels', async () => {
    const { result } = await shared[revision].request('tools/list');
    const { description } = result.tools.find(({ name }: any) => name === 'expensive_analysis');
    expect(description).toMatch(/operation_cancel, or notifications\/cancelled for the call, ends the work/);
  });

  test('notifications/cancelled for the call cancels the operation', async () => {
    const wire = shared[revision];
    const client = new AsyncClient(wire);
    const { id, result } = await client.call('expensive_analysis', { dataset: 'a', seconds: 300 });
    await wire.notify('notifications/cancelled', { requestId: id });
    await client.until(result.operation.token, ['canceled']);
  });

  test('notifications/cancelled that comes right behind the call cancels the operation too', async () => {
    const wire = shared[revision];
    const client = new AsyncClient(wire);
    const token = randomUUID();
    void wire.request(
      'tools/call',
      { name: 'expensive_analysis', arguments: { dataset: 'a', seconds: 300 }, operation: { token } },
      7_000,
    );
    await wire.notify('notifications/cancelled', { requestId: 7_000 });
    await client.until(token, ['canceled']);
  });

  test('notifications/cancelled for another request cancels nothing', async () => {
    const wire = shared[revision];
    const client = new AsyncClient(wire);
    const { token } = await client.start('expensive_analysis', { dataset: 'a', seconds: 1 });
    const { id } = await client.status(token);
    await wire.notify('notifications/cancelled', { requestId: id });
    expect((await client.until(token)).status).toBe('completed');
  });
});

test('with a legacy client a question comes by itself with the token, and an answer without it is refused', async () => {
  const wire = await connect('legacy', WITH_FORMS);
  const client = new AsyncClient(wire);
  const { token } = await client.start('migrate_code', { packages: ['left-pad'] });
  const isQuestion = ({ method }: any) => method === 'elicitation/create';
  const question = await eventually('it asks', () => wire.messages.find(isQuestion));
  expect(question.params._operation).toEqual({ token });
  await wire.respond(question.id, { action: 'accept', content: { go: true } });
  const refusal = await eventually('it is refused', () => wire.messages.find(({ error }) => error));
  expect(refusal).toMatchObject({
    id: null,
    error: { code: -32602, message: expect.stringContaining('_operation.token') },
  });
  // The question is asked again before the next status is answered.
  expect((await client.status(token)).result.status).toBe('input_required');
  expect(wire.messages.filter(isQuestion)).toHaveLength(2);
  await wire.respond(question.id, { action: 'accept', content: { go: true }, _operation: { token } });
  await client.until(token, ['completed']);
});
