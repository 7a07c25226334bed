/** The tool of examples/onboard-vendor through the protocols, with its approvals for roles, and the example's own tests. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { addApiKey } from '../../platform/api-keys.js';
import { eventually } from '../stack/cli-process.js';
import { JobsClient } from '../support/jobs.js';
import { INSTALL_MS } from '../support/limits.js';
import { untilOver, untilReading, type ProtocolClient } from '../support/protocols/index.js';
import { OPERATION_TOKENS } from '../support/protocols/operation-tokens.js';
import { stateless } from '../support/protocols/rpc.js';
import { TestStack } from '../support/test-stack.js';
import { ExampleStack, PROTOCOLS, runOwnTests, throughProtocols } from './support.js';

jest.setTimeout(INSTALL_MS);

const VENDOR = {
  name: 'Brightwater Analytics GmbH',
  country: 'DE',
  iban: 'DE89 3704 0044 0532 0130 00',
  yearlySpend: 48_000,
  contacts: [{ name: 'Mira Vogt', email: 'mira.vogt@brightwater.example' }],
};
const YES = { approve: true, comment: 'fine' };

let service: ChildProcess;
let environment: Record<string, string>;
let example: ExampleStack;

beforeAll(async () => {
  example = await ExampleStack.start('onboard-vendor', async (folder) => {
    service = spawn(process.execPath, ['--import', 'jiti/register', 'service/main.ts'], {
      cwd: folder,
      env: { ...process.env, NODE_OPTIONS: '', SYSTEMS_PORT: '0', CONTROL_PORT: '0', CHECK_MS: '1000' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface({ input: service.stdout! })) {
      const [systems] = line.match(/http:\/\/[\d.:]+/) ?? [];
      environment = { VENDOR_SYSTEMS: systems! };
      break;
    }
    return environment;
  });
});
afterAll(async () => {
  service?.kill();
  await example?.stop();
});

async function answerNext(client: ProtocolClient, token: string, key: string, text: RegExp): Promise<void> {
  const { questions } = await untilReading(client, `it asks ${key}`, token, (now) =>
    now.questions.some((one) => one.key === key),
  );
  expect([client.name, questions.find((one) => one.key === key)!.message]).toEqual([
    client.name,
    expect.stringMatching(text),
  ]);
  await client.answer(token, key, YES);
}

test('a vendor is onboarded, with progress, partial results and two approvals; another is cleared again', async () => {
  await throughProtocols('onboard-vendor', example.base, 'tasks', async (client) => {
    const key = randomUUID();
    const token = await client.start('onboard_vendor', VENDOR, key);
    expect(await client.start('onboard_vendor', VENDOR, key)).toBe(token);
    await answerNext(client, token, 'input-1', /^For legal: Brightwater/);
    const { partial, progress } = await new JobsClient(example.base).job(token);
    expect(partial.records.slice(0, 2)).toMatchObject([
      { step: 'supplier', state: 'done', id: expect.stringMatching(/^SUP-/) },
      { step: 'check', state: 'done', id: expect.stringMatching(/^arn:checks:vendor\//) },
    ]);
    expect(progress.progress).toBeGreaterThanOrEqual(2);
    await answerNext(client, token, 'input-2', /^For finance: Pay Brightwater/);
    const { result } = await untilOver(client, token);
    expect(result).toMatchObject({ outcome: 'onboarded', reason: 'approved by legal and finance' });
    expect(result.records.map(({ step }: { step: string }) => step)).toEqual([
      ...['supplier', 'check', 'contract', 'person-1', 'account'],
    ]);

    const wrong = await client.start('onboard_vendor', { ...VENDOR, iban: 'DE00' }, randomUUID());
    await answerNext(client, wrong, 'input-1', /^For legal/);
    await answerNext(client, wrong, 'input-2', /^For finance/);
    const { states, raw } = await untilOver(client, wrong);
    expect([client.name, states]).toEqual([client.name, expect.arrayContaining(['failed'])]);
    expect(JSON.stringify(raw)).toContain('wrong check digits');
    const cleared = (await new JobsClient(example.base).job(wrong)).partial.records;
    expect(new Set(cleared.map(({ state }: { state: string }) => state))).toEqual(new Set(['undone']));
  });
});

test('a check that runs already is followed under its own name, in every protocol', async () => {
  const checks = `${environment['VENDOR_SYSTEMS']}/checks/jobs`;
  const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
  const body = JSON.stringify({ vendor: 'Sable Harbour Trading' });
  const response = await fetch(checks, { method: 'POST', headers, body });
  const { id: arn } = (await response.json()) as { id: string };
  const { wire } = stateless(`${example.base}/mcp`, OPERATION_TOKENS);
  const operation = { token: arn };
  const { result } = await wire.request('tools/call', {
    name: 'follow_check',
    arguments: { arn },
    operation,
  });
  expect(result.operation.token).toBe(arn);
  const clients = Object.values(PROTOCOLS).map((open) => open(`${example.base}/mcp`));
  for (const client of clients) {
    const over = await untilOver(client, arn);
    await client.close?.();
    expect([client.name, over.result]).toEqual([
      client.name,
      { clear: false, finding: 'Sable Harbour Trading is on a sanctions list' },
    ]);
  }
  const temporal = await example.stack.temporal();
  const { type } = await temporal.workflow.getHandle(arn).describe();
  expect(type).toBe('follow_check');
});

test('with the roles of its policy, each approval is answered by its role alone', async () => {
  const keysFolder = join(example.folder, 'output/keys');
  const people = { buyers: 'bea', legal: 'lea', finance: 'finn' };
  const [buyer, legal, finance] = Object.entries(people).map(([group, subject]) => {
    const [key] = addApiKey(keysFolder, { tenant: 'default', subject, groups: [group] });
    return key;
  });
  // Its own stack, whose callers have keys and roles.
  const locked = await TestStack.start({
    LONGHAUL_PROJECT: example.folder,
    ...environment,
    LONGHAUL_AUTHENTICATION: 'keys',
    LONGHAUL_KEYS_FOLDER: keysFolder,
    LONGHAUL_POLICY: join(example.folder, 'policy.yml'),
  });
  try {
    const own = new JobsClient(locked.base, buyer);
    const token = await own.start('onboard_vendor', VENDOR);
    const answer = async (credential: string | undefined, key: string) => {
      const approver = new JobsClient(locked.base, credential);
      const id = await eventually('the operation is listed', async () => {
        const { body } = await approver.get('/v1/jobs?user=all');
        return body.jobs?.find((job: { job_id: string }) => job.job_id.endsWith(`.${token}`))
          ?.job_id as string;
      });
      return (await approver.post(`/v1/jobs/${id}/input`, { key, value: YES })).status;
    };
    await own.until(token, ({ input_required }) => input_required?.requests['input-1']);
    expect((await own.post(`/v1/jobs/${token}/input`, { key: 'input-1', value: YES })).status).toBe(403);
    expect(await answer(finance, 'input-1')).toBe(403);
    expect(await answer(legal, 'input-1')).toBe(200);
    await own.until(token, ({ input_required }) => input_required?.requests['input-2']);
    expect(await answer(legal, 'input-2')).toBe(403);
    expect(await answer(finance, 'input-2')).toBe(200);
    const { result, answers } = await own.until(token, 'succeeded');
    expect(result).toMatchObject({ outcome: 'onboarded' });
    expect(answers.map(({ by }: { by: { principal: string } }) => by.principal)).toEqual([
      'default/lea',
      'default/finn',
    ]);
  } finally {
    await locked.stop();
  }
});

test("the example's own types and tests pass", () => runOwnTests(example.folder));
