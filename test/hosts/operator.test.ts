import { beforeAll, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { eventually, freePort, isRunning, kill } from '../stack/cli-process.js';
import { forAllTests, inSetUp } from '../support/for-all-tests.js';
import { PROCESSES_MS } from '../support/limits.js';
import { Hosts, type TestHost } from './support.js';
import { PIPELINES } from './pipelines.js';

interface Run {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs `longhaul hosts` beside the server; it goes to Temporal itself. */
function longhaul(...args: string[]): Run {
  return longhaulIn({ LONGHAUL_HOME: hosts.root }, ...args);
}

function longhaulIn(environment: Record<string, string>, ...args: string[]): Run {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [resolve('dist/bin/longhaul.js'), 'hosts', ...args],
    {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '', LONGHAUL_TASK_QUEUE: hosts.parts.taskQueue, ...environment },
    },
  );
  return { status, stdout, stderr };
}

const listed = () => JSON.parse(longhaul('--json').stdout) as { hosts: any[]; unread: string[] };

/** The steps of a host that have processes. */
const stepsOn = ({ home }: TestHost) =>
  JSON.parse(longhaulIn({ LONGHAUL_HOME: home }, '--json').stdout).thisHost;

const hosts = await forAllTests(Hosts.start(PIPELINES));
const first = await inSetUp(hosts.add('first'));
const careful = await inSetUp(hosts.startOn('careful', 'careful'));
const approved = await inSetUp(hosts.startOn('approved', 'approved'));
let second: TestHost;
beforeAll(async () => {
  await eventually('careful runs', () => hosts.lines('careful').includes('start two first'));
  await hosts.parts.client.until(approved, 'input_required');
  second = await hosts.add('second');
});

describe('longhaul hosts', () => {
  test('lists hosts with their jobs', () => {
    const job = (token: string, tool: string, status: string, step: unknown) =>
      expect.objectContaining({ token, tool, job: 'work', status, step });
    expect(listed()).toEqual({
      hosts: expect.arrayContaining([
        {
          name: first.id,
          isThere: true,
          lastSeenAt: expect.stringMatching(/Z$/),
          jobs: expect.arrayContaining([
            job(careful, 'careful', 'working', { name: 'two' }),
            job(approved, 'approved', 'input_required', { name: 'ask' }),
          ]),
        },
        { name: second.id, isThere: true, lastSeenAt: expect.any(String), jobs: [] },
      ]),
      unread: [],
    });
    const { stdout, status } = longhaul();
    expect(status).toBe(0);
    expect(stdout).toMatch(/^HOST +SEEN +JOBS\n/);
    expect(stdout).toMatch(new RegExp(`^${second.id} +now +0$`, 'm'));
    expect(stdout).not.toContain('on this host');
  });

  test('lists the steps of its own host, with their processes', () => {
    const { name, steps } = stepsOn(first);
    expect(name).toBe(first.id);
    expect(steps).toEqual([
      {
        ...{ token: careful, job: 'work', step: 'two' },
        startedAt: expect.stringMatching(/Z$/),
        launcherPid: expect.any(Number),
        workerPid: first.worker.process.pid,
        ...{ namespace: 'default', taskQueue: hosts.parts.taskQueue },
      },
    ]);
    const [{ launcherPid, startedAt }] = steps;
    expect(isRunning(launcherPid)).toBe(true);
    expect(stepsOn(second)).toEqual({ name: second.id, steps: [] });

    const { stdout } = longhaulIn({ LONGHAUL_HOME: first.home });
    const lines = stdout.trimEnd().split('\n').slice(-3);
    expect(lines[0]).toBe(`Steps on this host, ${first.id}:`);
    expect(lines[2]!.split(/ {2,}/)).toEqual([
      ...[careful, 'work / two', startedAt, String(launcherPid), String(first.worker.process.pid)],
    ]);
  });

  test('lists the steps of its own host without Temporal, which it says', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const environment = { LONGHAUL_HOME: first.home, TEMPORAL_ADDRESS: address };
    const text = longhaulIn(environment);
    expect(text).toMatchObject({ status: 3, stderr: expect.stringContaining(`no Temporal at ${address}`) });
    expect(text.stdout).toContain(`${careful}  work / two`);
    const { stdout, status } = longhaulIn(environment, '--json');
    expect(status).toBe(3);
    expect(JSON.parse(stdout)).toEqual({
      error: { message: expect.stringContaining(`no Temporal at ${address}`), exitCode: 3 },
      thisHost: stepsOn(first),
    });
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
    const [before] = stepsOn(first).steps;
    await first.worker.end('SIGKILL');
    const { workerPid: _, ...waiting } = before;
    expect(stepsOn(first).steps).toEqual([waiting]);
    expect(longhaulIn({ LONGHAUL_HOME: first.home }).stdout).toMatch(/work \/ two .* waits for a worker$/m);
    // The host is gone, with its processes.
    kill(before.launcherPid);
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
    expect(drop.stdout).toContain(`${careful}  careful work / two  working`);

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
  });
});
