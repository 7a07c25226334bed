/** Workers with a role each: one for workflows and activities of tools, one for jobs of pipelines. */
import { beforeAll, expect, test } from '@jest/globals';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { hostId } from '../../worker/steps/host.js';
import { listHosts } from '../../cli/doctor/hosts.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { PROCESSES_MS } from '../support/limits.js';
import type { Part } from '../support/test-stack.js';
import { Hosts } from './support.js';
import { PIPELINES } from './pipelines.js';

let workflows: Part;

const home = (name: string) => join(hosts.root, name);

function workerWith(role: string, name: string): Part {
  mkdirSync(home(name));
  return hosts.parts.worker({ LONGHAUL_HOME: home(name), LONGHAUL_WORKER_ROLE: role, TEST_HOST: name });
}

const hosts = await forAllTests(Hosts.start(PIPELINES, { LONGHAUL_METRICS: 'true' }));
beforeAll(async () => {
  workflows = workerWith('workflows', 'flows');
  await hosts.parts.ready();
});

test('a worker of workflows runs tools, and jobs wait for a worker with a host', async () => {
  const { client } = hosts.parts;
  const compute = await client.start('slow_compute', { seconds: 1 });
  await client.until(compute, 'completed');

  const token = await hosts.startOn('repeatable', 'waits');
  await eventually(
    'the status says that no worker takes the job',
    async () =>
      /no worker has taken the workspace of job work/.test((await client.get(token)).statusMessage ?? ''),
    PROCESSES_MS,
  );
  const { hosts: none } = await listHosts(await hosts.parts.temporal(), hosts.parts.taskQueue);
  expect(none).toEqual([]);

  const host = workerWith('host', 'steps');
  await eventually('the step runs', () => hosts.lines('waits').includes('start two steps'), PROCESSES_MS);
  const { hosts: listed } = await listHosts(await hosts.parts.temporal(), hosts.parts.taskQueue);
  expect(listed).toMatchObject([
    { name: hostId(home('steps')), isThere: true, jobs: [{ token, job: 'work', status: 'working' }] },
  ]);

  // Metrics name the worker that has a host, and no other one.
  const seen = await eventually(
    'the server has seen the host',
    async () => {
      const page = await (await fetch(`${hosts.parts.base}/metrics`)).text();
      const named = [...page.matchAll(/^longhaul_host_last_seen_timestamp_seconds\{host="([^"]+)"/gm)];
      return named.length > 0 ? { page, named: named.map(([, name]) => name) } : undefined;
    },
    PROCESSES_MS,
  );
  expect(seen.named).toEqual([hostId(home('steps'))]);
  const queue = `${hosts.parts.taskQueue}-hosts`;
  expect(seen.page).toContain(`longhaul_task_queue_pollers{task_queue="${queue}",type="activity"} 1`);

  // The step runs on while both are replaced.
  await Promise.all([host.end('SIGKILL'), workflows.end('SIGKILL')]);
  workflows = hosts.parts.worker({ LONGHAUL_HOME: home('flows'), LONGHAUL_WORKER_ROLE: 'workflows' });
  hosts.parts.worker({ LONGHAUL_HOME: home('steps'), LONGHAUL_WORKER_ROLE: 'host', TEST_HOST: 'steps' });
  hosts.letGo('waits');
  await client.until(token, 'completed');
  expect(hosts.lines('waits')).toEqual(['one steps', 'start two steps', 'end two steps']);
});
