/** The example onboard-vendor: its own tests, and its approvals by the roles of its policy. */
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { addApiKey } from '../../mcp-server/auth/key-store.js';
import { eventually } from '../stack/cli-process.js';
import { JobsClient } from '../support/jobs.js';
import { INSTALL_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';
import { installExample, removeExample, runOwnTests } from './support.js';

jest.setTimeout(INSTALL_MS);

const VENDOR = {
  name: 'Brightwater Analytics GmbH',
  country: 'DE',
  iban: 'DE89 3704 0044 0532 0130 00',
  yearlySpend: 48_000,
  contacts: [{ name: 'Mira Vogt', email: 'mira.vogt@brightwater.example' }],
};
const YES = { approve: true, comment: 'fine' };

let folder: string;
let service: ChildProcess | undefined;
let stack: TestStack | undefined;

beforeAll(async () => {
  folder = await installExample('onboard-vendor');
}, INSTALL_MS);
afterAll(async () => {
  service?.kill();
  await stack?.stop();
  removeExample(folder);
});

/** Starts the systems that the vendor is brought into. @returns their address */
async function startSystems(): Promise<string> {
  service = spawn(process.execPath, ['--import', 'jiti/register', 'service/main.ts'], {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: '', SYSTEMS_PORT: '0', CONTROL_PORT: '0', CHECK_MS: '1000' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: service.stdout! })) {
    const [systems] = /http:\/\/[\d.:]+/.exec(line) ?? [];
    if (systems) return systems;
  }
  throw new Error('the systems have ended');
}

test('with the roles of its policy, each approval is answered by its role alone', async () => {
  const keysFolder = join(folder, 'output/keys');
  const people = { buyers: 'bea', legal: 'lea', finance: 'finn' };
  const [buyer, legal, finance] = Object.entries(people).map(([group, subject]) => {
    const [key] = addApiKey(keysFolder, { tenant: 'default', subject, groups: [group] });
    return key;
  });
  // Its own stack, whose callers have keys and roles.
  const locked = (stack = await TestStack.start({
    LONGHAUL_PROJECT: folder,
    VENDOR_SYSTEMS: await startSystems(),
    LONGHAUL_AUTHENTICATION: 'keys',
    LONGHAUL_KEYS_FOLDER: keysFolder,
    LONGHAUL_POLICY: join(folder, 'policy.yml'),
  }));
  const own = new JobsClient(locked.base, buyer);
  const token = await own.start('onboard_vendor', VENDOR);
  const answer = async (credential: string | undefined, key: string) => {
    const approver = new JobsClient(locked.base, credential);
    const id = await eventually('the operation is listed', async () => {
      const { body } = await approver.get('/v1/jobs?user=all');
      return body.jobs?.find((job: { job_id: string }) => job.job_id.endsWith(`.${token}`))?.job_id as string;
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
});

test('its own types and tests pass', () => runOwnTests(folder));
