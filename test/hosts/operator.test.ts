import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS, STACK_MS } from '../support/limits.js';
import { Hosts, type TestHost } from './support.js';
import { PIPELINES } from './pipelines.js';

let hosts: Hosts;
let first: TestHost;
let second: TestHost;
let careful: string;
let approved: string;

/** Runs `longhaul hosts` beside the server; it goes to Temporal itself. */
function longhaul(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [resolve('dist/cli/main.js'), 'hosts', ...args],
    {
      encoding: 'utf8',
      env: {
        ...process.env,
        NODE_OPTIONS: '',
        LONGHAUL_HOME: hosts.root,
        LONGHAUL_TASK_QUEUE: hosts.parts.taskQueue,
      },
    },
  );
  return { status, stdout, stderr };
}

const listed = () => JSON.parse(longhaul('--json').stdout) as { hosts: any[]; unread: string[] };

beforeAll(async () => {
  hosts = await Hosts.start(PIPELINES);
  first = await hosts.add('first');
  careful = await hosts.startOn('careful', 'careful');
  approved = await hosts.startOn('approved', 'approved');
  await eventually('careful runs', () => hosts.lines('careful').includes('start two first'));
  await hosts.parts.client.until(approved, 'input_required');
  second = await hosts.add('second');
}, STACK_MS);
afterAll(() => hosts?.stop());

describe('longhaul hosts', () => {
  test('lists hosts with their jobs', () => {
    const job = (token: string, tool: string, status: string) =>
      expect.objectContaining({ token, tool, job: 'work', status });
    expect(listed()).toEqual({
      hosts: expect.arrayContaining([
        {
          name: first.id,
          isThere: true,
          lastSeenAt: expect.stringMatching(/Z$/),
          jobs: expect.arrayContaining([
            job(careful, 'careful', 'working'),
            job(approved, 'approved', 'input_required'),
          ]),
        },
        { name: second.id, isThere: true, lastSeenAt: expect.any(String), jobs: [] },
      ]),
      unread: [],
    });
    const { stdout, status } = longhaul();
    expect(status).toBe(0);
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/^HOST +SEEN +JOBS$/);
    expect(lines).toContainEqual(
      expect.stringMatching(new RegExp(`^${first.id} +now +2 +\\S+  \\w+ work  \\w+$`)),
    );
    expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^${second.id} +now +0$`)));
  });

  test('refuses to drop a live or an unknown host', () => {
    expect(longhaul('drop', first.id)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(
        new RegExp(`^longhaul: host ${first.id} is present: one of its workers polled at `),
      ),
    });
    const { status, stderr } = longhaul('drop', 'nowhere');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^longhaul: there is no host "nowhere"; known are /);
    expect(stderr).toContain(second.id);
  });

  test('drops a host that is gone: its jobs move, or ask, without waiting for its absence to have lasted', async () => {
    await first.worker.end('SIGKILL');
    const { client } = hosts.parts;
    const [key] = Object.keys((await client.get(approved)).inputRequests) as [string];
    await client.answer(approved, key, { action: 'accept', content: { approve: true } });
    const drop = await eventually(
      'it counts as gone',
      () => {
        const run = longhaul('drop', first.id);
        return run.status === 0 ? run : undefined;
      },
      PROCESSES_MS,
    );
    expect(drop.stdout).toContain(`Dropped ${first.id}.`);
    expect(drop.stdout).toContain(`${careful}  careful work  working`);

    const asked = await client.until(
      approved,
      ({ inputRequests }) => inputRequests && 'input-2' in inputRequests,
    );
    await client.answer(approved, Object.keys(asked.inputRequests)[0]!, {
      action: 'accept',
      content: { approve: true },
    });
    await client.until(approved, 'completed');
    expect(hosts.lines('approved')).toEqual(['one first', 'one second', 'deploy second']);

    // Its step may have kept running until its heartbeats were missing for long enough.
    const { inputRequests } = await client.until(careful, 'input_required', 240_000);
    const [[question, { params }]] = Object.entries<any>(inputRequests) as [[string, any]];
    expect(params.message).toContain(
      `The host ${first.id}, which has the workspace of work, was dropped by an operator`,
    );
    expect(JSON.stringify(params)).not.toContain('"wait"');
    await client.answer(careful, question, { action: 'accept', content: { decision: 'start_job_again' } });
    await eventually('it runs there', () => hosts.lines('careful').includes('start two second'));
    hosts.letGo('careful');
    await client.until(careful, 'completed');
    expect(listed().hosts.find(({ name }) => name === first.id)?.jobs ?? []).toEqual([]);
  }, 600_000);
});
