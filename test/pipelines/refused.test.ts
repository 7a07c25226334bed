/** Commands that Temporal refuses: those that numbers of a file could make, and how a run with one ends. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import proto from '@temporalio/proto';
import { eventually } from '../stack/cli-process.js';
import { JobsClient } from '../support/jobs.js';
import { OUTAGE_MS, STACK_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';
import { PipelineProject, writePipelines } from './support.js';

jest.setTimeout(OUTAGE_MS);

const { COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK } = proto.temporal.api.enums.v1.CommandType;

/** A pipeline whose step fails at its first attempt, and which has these keys. */
const failingOnce = (step: string, top = '') => `${top}
jobs:
  a:
    steps:
      - run: '[ -e once ] || { touch once; exit 1; }'
        ${step}
`;
/** Deadline of a poll, in milliseconds: longer than Temporal's own. */
const POLL_MS = 90_000;
const HUGE_NAME = '長'.repeat(200);

describe('numbers and names at the ends of their ranges', () => {
  const PIPELINES = {
    no_retry: failingOnce('retry: { attempts: 1, backoff: 0 }'),
    at_once: failingOnce('retry: { attempts: 2, backoff: 0 }'),
    within_a_millisecond: failingOnce('retry: { attempts: 2, backoff: 0.0004 }'),
    longest_backoff: failingOnce('retry: { attempts: 1, backoff: 3600 }'),
    long_name: failingOnce(`name: ${HUGE_NAME}\n        retry: { attempts: 2, backoff: 0 }`),
    longest_times: failingOnce(
      'timeout-minutes: 525600\n        retry: { attempts: 100, backoff: 0 }',
      'timeout-minutes: 525600',
    ),
  };
  const project = PipelineProject.ofFile(PIPELINES);

  test.each(Object.keys(PIPELINES))('%s runs to its end', async (pipeline) => {
    const jobs = new JobsClient(project.parts.base);
    const id = await jobs.start(pipeline);
    const hasRetry = pipeline !== 'no_retry' && pipeline !== 'longest_backoff';
    await jobs.until(id, hasRetry ? 'succeeded' : 'failed');
  });
});

describe('a run whose command Temporal refuses', () => {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-refused-'));
  let stack: TestStack;
  let jobs: JobsClient;
  // A server of its own: this test does the work of its worker.
  beforeAll(async () => {
    writePipelines(folder, { plain: "jobs: { a: { steps: [{ run: 'true' }] } }" });
    stack = await TestStack.serverAlone({ LONGHAUL_PIPELINE_FOLDERS: folder });
    jobs = new JobsClient(stack.base);
    await eventually('the server answers', () =>
      jobs.get('/v1/tools').then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
  }, STACK_MS);
  afterAll(async () => {
    await stack?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Answers a workflow task as a worker whose activity has no time-out. */
  async function sendBadCommand(): Promise<string> {
    const client = await stack.temporal();
    const { workflowService, options } = client;
    const common = { namespace: options.namespace, identity: 'a broken worker' };
    const task = await client.withDeadline(Date.now() + POLL_MS, () =>
      workflowService.pollWorkflowTaskQueue({ ...common, taskQueue: { name: stack.taskQueue } }),
    );
    if (!task.taskToken?.length) return '';
    const scheduleActivityTaskCommandAttributes = {
      activityId: '1',
      activityType: { name: 'runPipelineStep' },
      taskQueue: { name: stack.taskQueue },
    };
    const refusal: unknown = await workflowService
      .respondWorkflowTaskCompleted({
        ...common,
        taskToken: task.taskToken,
        commands: [
          { commandType: COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK, scheduleActivityTaskCommandAttributes },
        ],
      })
      .then(
        () => 'accepted',
        (error: unknown) => error,
      );
    expect(String(refusal)).toContain('BadScheduleActivityAttributes');
    return task.workflowExecution!.workflowId!;
  }
  /** Lets its workflow task fail until a reader has ended the run. */
  async function ended(id: string): Promise<any> {
    for (;;) {
      const job = await jobs.job(id);
      if (job.closed_at !== undefined) return job;
      await sendBadCommand();
    }
  }

  test("fails with Temporal's reason", async () => {
    const id = await jobs.start('plain');
    const job = await ended(id);
    expect(job).toMatchObject({ status: 'failed', error: { kind: 'failed', retryable: false } });
    expect(job.error.message).toMatch(
      /^Temporal refuses a command of the pipeline: .*ScheduleToCloseTimeout/,
    );
  });

  test('is canceled if that was requested', async () => {
    const id = await jobs.start('plain');
    await sendBadCommand();
    expect((await jobs.post(`/v1/jobs/${id}:cancel`, { reason: 'no need' })).status).toBeLessThan(300);
    const job = await ended(id);
    expect(job).toMatchObject({ status: 'canceled', status_message: 'canceled: no need' });
  });

  test('can be resumed, as a run of which nothing has run', async () => {
    const id = await jobs.start('plain');
    await ended(id);
    const resumed = await jobs.post(`/v1/jobs/${id}:resume`, {});
    expect(resumed.status).toBe(202);
    stack.worker();
    await jobs.until(resumed.body.job_id, 'succeeded');
  });
});
