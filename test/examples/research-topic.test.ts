/** examples/research-topic on Longhaul's own documents: read in the middle, asked, answered, fetched and deleted. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { INSTALL_MS } from '../support/limits.js';
import { untilOver, untilReading } from '../support/protocols/index.js';
import { ExampleStack, runOwnTests, throughProtocols } from './support.js';

jest.setTimeout(INSTALL_MS);

const TOPIC = 'What happens to running work when a worker is killed?';

let example: ExampleStack;

beforeAll(async () => {
  example = await ExampleStack.start('research-topic', async (folder) => ({
    LONGHAUL_DATA_FOLDERS: `${folder}/node_modules/longhaul/docs`,
  }));
});
afterAll(() => example?.stop());

test('its report grows, its question is answered, and it is gone once it was deleted', () =>
  throughProtocols('research-topic', example.base, 'tasks', async (client) => {
    const args = { topic: TOPIC, researchers: 2, ask: true };
    const token = await client.start('research_topic', args, randomUUID());
    const asked = await untilReading(client, 'it asks', token, ({ questions }) => questions.length > 0);
    const { partial } = await callPlain('operation_get', { token, view: 'partial' });
    expect(partial).toMatchObject({ rounds: 1, report: expect.stringMatching(/Extracted without .*\[1\]/s) });
    // Two researchers of the first round.
    if (asked.progress) expect(asked.progress).toMatchObject({ progress: 2, total: 2 });
    const [question] = asked.questions;
    const [first] = (question!.schema as any).properties.questions.items.enum;
    await client.answer(token, question!.key, { questions: [first] });
    const { result } = await untilOver(client, token);
    expect(result).toMatchObject({ model: null, rounds: 2, dropped: 0 });
    expect(result.report).toContain(`## ${first}`);
    expect(result.statements).toBeGreaterThan(5);
    expect(await callPlain('operation_delete', { token })).toMatchObject({ deleted: true });
    expect(await client.read(token)).toBeUndefined();
  }));

test('its own tests and types pass', () => runOwnTests(example.folder));

/** Partial results and deletions are tools on every protocol. */
async function callPlain(name: string, args: object): Promise<any> {
  const { result } = await example.stack.client.request('tools/call', { name, arguments: args });
  return result.structuredContent;
}
