/** docs/bring-your-own.md, followed by somebody who has a Temporal with the worker of examples/bring-your-own/go. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { KEYS, run, Terminal } from '../cli/commands.js';
import { INSTALL_MS } from '../support/limits.js';
import { newNamespace } from '../support/namespace.js';
import { TestStack } from '../support/test-stack.js';
import { ExternalWorker } from './workers.js';

jest.setTimeout(INSTALL_MS);

const PAGE = readFileSync('docs/bring-your-own.md', 'utf8');
const BLOCKS = [...PAGE.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)];
/** Code blocks of a language, in order. */
const blocks = (language: string) => BLOCKS.filter(([, of]) => of === language).map(([, , text]) => text!);
/** Words of the first command of the page that begins so. */
const command = (beginning: string) =>
  blocks('sh')
    .flatMap((text) => text.split('\n'))
    .find((line) => line.startsWith(beginning))!
    .split(' ')
    .slice(1);

let parts: TestStack;
let worker: ExternalWorker;
let environment: Record<string, string>;

beforeAll(async () => {
  const namespace = await newNamespace('documented');
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-documented-'));
  const [tool = ''] = blocks('yaml');
  const [, path = ''] = /^# (.*)\n/.exec(tool) ?? [];
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), tool);
  const project = join(folder, path, '../..');
  environment = { TEMPORAL_NAMESPACE: namespace, LONGHAUL_PROJECT: project };
  [worker, parts] = await Promise.all([
    ExternalWorker.start('go', { taskQueue: 'orders', environment: { TEMPORAL_NAMESPACE: namespace } }),
    // Its own namespace, whose only runs are the page's.
    TestStack.start(environment),
  ]);
}, INSTALL_MS);
afterAll(async () => {
  await Promise.all([worker?.stop(), parts?.stop()]);
});

test('the check says what the page shows', async () => {
  const words = command('longhaul check');
  expect(words).toEqual(['check', 'my-tools/tools']);
  const folder = join(environment['LONGHAUL_PROJECT']!, 'tools');
  const { code, stdout } = await run(parts, ['check', folder], { environment });
  const shown = blocks('').find((text) => text.includes(': ok'))!;
  expect([code, stdout.trim()]).toEqual([
    0,
    expect.stringMatching(new RegExp(`${shown.trim().replace('my-tools/', '.*')}$`)),
  ]);
});

test('the call asks, takes the answer, and prints the result', async () => {
  const terminal = new Terminal(parts, command('longhaul call'), { environment });
  try {
    await terminal.at('Refund 12.50 for order o-17?', KEYS.enter);
    await terminal.at('approved', KEYS.left, KEYS.enter);
    await terminal.at('comment (optional)', KEYS.enter);
    await terminal.shows('"approved": true');
    expect(await terminal.ended).toBe(0);
  } finally {
    terminal.kill();
  }
});

test('a run that somebody else has started is adopted, and answered', async () => {
  const temporal = await parts.temporal(environment['TEMPORAL_NAMESPACE']);
  const words = command('longhaul adopt');
  const workflowId = words.at(-1)!;
  await temporal.workflow.start('RefundWorkflow', { workflowId, taskQueue: 'orders', args: ['o-18', 700] });
  const { code, stdout, stderr } = await run(parts, words, { environment });
  const token = stdout.trim();
  expect([code, stderr.trim()]).toEqual([
    0,
    `${workflowId} is an operation of refund_order now: longhaul watch ${token}`,
  ]);
  await parts.client.until(token, 'input_required');
  const { inputRequests } = await parts.client.get(token);
  const [key] = Object.keys(inputRequests);
  await parts.client.answer(token, key!, { action: 'accept', content: { approved: true } });
  const { result } = await parts.client.until(token, 'completed');
  expect(result.structuredContent).toMatchObject({ orderId: 'o-18', approved: true });
});
