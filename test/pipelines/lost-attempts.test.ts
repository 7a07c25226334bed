/** Attempts that Temporal gives to a worker as it is killed: no record of them is on the host. */
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { hostId } from '../../worker/steps/host.js';
import { stepTaskQueue } from '../../pipelines/run.js';
import { pollersOf } from '../../platform/temporal/host-presence.js';
import { createLogger } from '../../platform/observe/log.js';
import { failLostAttempts } from '../../worker/steps/lost-attempts.js';
import { eventually } from '../stack/cli-process.js';
import { OUTAGE_MS, STACK_MS } from '../support/limits.js';
import type { Part } from '../support/test-stack.js';
import { LEDGER, PipelineProject } from './support.js';

jest.setTimeout(OUTAGE_MS);

const PIPELINES = {
  held: `${LEDGER}
jobs:
  a: { steps: [{ run: 'echo held >> "$INPUT_LEDGER"; while [ ! -e "$INPUT_LEDGER.go" ]; do sleep 0.1; done' }] }
`,
  once: `${LEDGER}
jobs:
  a: { steps: [{ name: only, run: 'echo ran >> "$INPUT_LEDGER"' }] }
`,
};
/** Deadline of a poll, in milliseconds: longer than Temporal's own. */
const POLL_MS = 90_000;
const home = process.env['LONGHAUL_HOME']!;

let project: PipelineProject;
/** Worker of the workflows, which stays, and worker of the host, which is killed. */
let workflows: Part;
let host: Part;
const startHost = () => {
  host = project.parts.worker({ LONGHAUL_WORKER_ROLE: 'host', LONGHAUL_MAX_STEPS: '1' });
};
// A worker of its own, with one slot, which is killed.
beforeAll(async () => {
  project = await PipelineProject.start(PIPELINES, { LONGHAUL_WORKER_ROLE: 'workflows' });
  [, workflows] = project.parts.parts as [Part, Part];
}, STACK_MS);
beforeEach(startHost);
afterAll(async () => project?.stop());

const queue = () => stepTaskQueue(project.parts.taskQueue, hostId(home));
const identityOf = async (
  { process: { pid } }: Part,
  taskQueue: string,
  work: 'workflows' | 'activities',
) => {
  const client = await project.parts.temporal();
  return eventually(`worker ${pid} polls ${taskQueue}`, async () => {
    const pollers = await pollersOf(client, taskQueue, work);
    return pollers.find(({ identity }) => identity.startsWith(`${pid}@`))?.identity;
  });
};

/** Starts a pipeline whose step waits for the only slot, which another step holds. */
async function startBehind(ledger: string): Promise<{ holding: string; waiting: string }> {
  const holding = await project.startOn('held', `${ledger}-held`);
  await project.reaches(`${ledger}-held`, 'held');
  const waiting = await project.startOn('once', ledger);
  const { workflow } = await project.parts.temporal();
  await eventually('its step waits', async () => {
    const { raw } = await workflow.getHandle(waiting).describe();
    return raw.pendingActivities?.some(({ activityType }) => activityType?.name === 'runPipelineStep');
  });
  return { holding, waiting };
}

/** Takes the attempt of an operation's step, as a worker of this identity does. */
async function take(workflowId: string, identity: string): Promise<Uint8Array> {
  const client = await project.parts.temporal();
  const { namespace } = client.options;
  return eventually('the step is given', async () => {
    const task = await client.withDeadline(Date.now() + POLL_MS, () =>
      client.workflowService.pollActivityTaskQueue({ namespace, taskQueue: { name: queue() }, identity }),
    );
    return task.workflowExecution?.workflowId === workflowId ? task.taskToken : undefined;
  });
}

async function eventsOf(workflowId: string) {
  const { workflow } = await project.parts.temporal();
  const { events } = await workflow.getHandle(workflowId).fetchHistory();
  return {
    failures: events!.flatMap(
      ({ activityTaskFailedEventAttributes: failed }) =>
        failed?.failure?.applicationFailureInfo?.type ?? (failed ? [undefined] : []),
    ),
    timeouts: events!.filter((event) => event.activityTaskTimedOutEventAttributes).length,
  };
}

test('a step runs once a worker of the host is back, without a time-out', async () => {
  const { holding, waiting } = await startBehind('lost');
  const identity = await identityOf(host, queue(), 'activities');
  await host.end('SIGKILL');
  await take(waiting, identity);
  startHost();
  project.letGo('lost-held');
  await project.finish(holding);
  await project.finish(waiting);
  expect(project.lines('lost')).toEqual(['ran']);
  expect(await eventsOf(waiting)).toEqual({ failures: ['StepNotRun'], timeouts: 0 });
  expect(await eventsOf(holding)).toEqual({ failures: [], timeouts: 0 });
  await host.end();
});

test('attempts of a worker that lives, and recorded steps, are left alone', async () => {
  const { holding, waiting } = await startBehind('living');
  const identity = await identityOf(workflows, project.parts.taskQueue, 'workflows');
  await host.end('SIGKILL');
  const taskToken = await take(waiting, identity);
  const client = await project.parts.temporal();
  const settings = { home, taskQueue: project.parts.taskQueue, heartbeatSeconds: 5 };
  const logger = createLogger('test', 'error');
  expect(await failLostAttempts({ settings, client: () => client, logger })).toBe(0);
  for (const workflowId of [holding, waiting]) {
    const { raw } = await client.workflow.getHandle(workflowId).describe();
    expect(raw.pendingActivities).toHaveLength(1);
  }
  const result = { exitCode: 0, outputs: {} };
  await client.activity.complete(taskToken, result);
  await project.finish(waiting);
  project.letGo('living-held');
  startHost();
  await project.finish(holding);
  expect(project.lines('living')).toEqual([]);
  await host.end();
});
