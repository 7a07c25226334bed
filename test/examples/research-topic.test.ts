/** examples/research-topic on Longhaul's own documents: read in the middle, asked, answered, fetched and deleted. */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { INSTALL_MS } from '../support/limits.js';
import type { ProtocolClient, Reading } from '../support/protocols/index.js';
import { TestStack } from '../support/test-stack.js';
import { installExample, runOwnTests, throughProtocols } from './support.js';

jest.setTimeout(INSTALL_MS);

const TOPIC = 'What happens to running work when a worker is killed?';

let folder: string;
let parts: TestStack;

beforeAll(async () => {
  folder = await installExample('research-topic');
  parts = await TestStack.start({
    LONGHAUL_PROJECT: folder,
    LONGHAUL_DATA_FOLDERS: `${folder}/node_modules/longhaul/docs`,
  });
});
afterAll(async () => {
  await parts?.stop();
  if (folder) rmSync(dirname(folder), { recursive: true });
});

test('its report grows, its question is answered, and it is gone once it was deleted', () =>
  throughProtocols('research-topic', parts.base, 'tasks', async (client) => {
    const args = { topic: TOPIC, researchers: 2, ask: true };
    const token = await client.start('research_topic', args, randomUUID());
    const asked = await until(client, token, ({ questions }) => questions.length > 0);
    const { partial } = await callPlain('operation_get', { token, view: 'partial' });
    expect(partial).toMatchObject({ rounds: 1, report: expect.stringMatching(/Extracted without .*\[1\]/s) });
    // Two researchers of the first round.
    if (asked.progress) expect(asked.progress).toMatchObject({ progress: 2, total: 2 });
    const [question] = asked.questions;
    const [first] = (question!.schema as any).properties.questions.items.enum;
    await client.answer(token, question!.key, { questions: [first] });
    const { result } = await until(client, token, ({ isOver }) => isOver);
    expect(result).toMatchObject({ model: null, rounds: 2, dropped: 0 });
    expect(result.report).toContain(`## ${first}`);
    expect(result.statements).toBeGreaterThan(5);
    expect(await callPlain('operation_delete', { token })).toMatchObject({ deleted: true });
    expect(await client.read(token)).toBeUndefined();
  }));

test('its own tests and types pass', () => runOwnTests(folder));

const until = (client: ProtocolClient, token: string, holds: (reading: Reading) => boolean) =>
  eventually(`${client.name}: the operation is further`, async () => {
    const reading = await client.read(token);
    return reading && holds(reading) ? reading : undefined;
  });

/** Partial results and deletions are tools on every protocol. */
async function callPlain(name: string, args: object): Promise<any> {
  const { result } = await parts.client.request('tools/call', { name, arguments: args });
  return result.structuredContent;
}
