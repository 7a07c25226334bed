import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { StreamableHTTPClientTransport, type Client } from '@modelcontextprotocol/client';
import { closeClients, connect } from '../clients/support.js';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';

jest.setTimeout(PROCESSES_MS);

let parts: TestStack;
beforeAll(async () => {
  parts = await TestStack.shared();
});
afterEach(closeClients);
afterAll(() => parts?.stop());

const http = () => new StreamableHTTPClientTransport(new URL(parts.client.url));

/** Calls a tool with the client's own validation against the published schema. */
async function call(client: Client, name: string, args: object): Promise<any> {
  const { structuredContent } = await client.callTool({ name, arguments: { ...args } });
  return structuredContent;
}

describe('the official client, with plain tools alone,', () => {
  test('starts, looks, answers and collects by what next_action says', async () => {
    const { client } = await connect(http(), {});
    await client.listTools();
    const started = await call(client, 'confirm_delete', { filename: 'notes.txt' });
    const asked = await eventually('it asks', async () => {
      const { tool, args } = started.next_action;
      const seen = await call(client, tool, args);
      return seen.status === 'input_required' ? seen : undefined;
    });
    const { tool, args, question } = asked.next_action;
    expect([tool, question.message]).toEqual(['operation_answer', 'Delete notes.txt?']);
    await call(client, tool, { ...args, content: { confirm: true } });
    const { token } = started;
    const done = await eventually('it has ended', async () => {
      const seen = await call(client, 'operation_get', { token });
      return seen.next_action ? undefined : seen;
    });
    expect(done).toMatchObject({ status: 'completed', result: { answer: 'accept', deleted: ['notes.txt'] } });
  });

  test('lets the person answer in the middle of a call that waits', async () => {
    const { client } = await connect(http(), { elicitation: { form: {} } });
    await client.listTools();
    const asked: string[] = [];
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message);
      return { action: 'accept', content: { confirm: true } };
    });
    const progress: number[] = [];
    const done = await client.callTool(
      { name: 'confirm_delete', arguments: { filename: 'a', wait: true } },
      { onprogress: (one) => void progress.push(one.progress) },
    );
    expect(asked).toEqual(['Delete a?']);
    expect(done.structuredContent).toMatchObject({
      status: 'completed',
      result: { answer: 'accept', deleted: ['a'] },
    });
  });
});
