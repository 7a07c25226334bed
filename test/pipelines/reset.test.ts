/** Resets of a pipeline's workflow, by an operator in Temporal's own tools: what is after the reset point runs again. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { eventually, kill } from '../stack/cli-process.js';
import { JobsClient } from '../support/jobs.js';
import { PROCESSES_MS } from '../support/limits.js';
import { resetBefore, schedules } from '../support/reset-workflow.js';
import { stepLogText } from '../support/stored-log.js';
import { LEDGER, PipelineProject } from './support.js';

jest.setTimeout(PROCESSES_MS);

/** Takes a lock of its own while it runs: two at once leave the line "overlap". */
const ALONE = (name: string) => `
          mkdir "$INPUT_LEDGER.lock" 2>/dev/null || echo overlap >> "$INPUT_LEDGER"
          trap 'sleep 1; rmdir "$INPUT_LEDGER.lock"; echo ended ${name} >> "$INPUT_LEDGER"; exit 1' TERM
          echo start ${name} >> "$INPUT_LEDGER"
          until [ -e "$INPUT_LEDGER.go" ]; do sleep 0.1; done
          rmdir "$INPUT_LEDGER.lock"
          echo done ${name} >> "$INPUT_LEDGER"
          echo "by=$LONGHAUL_ATTEMPT" >> "$LONGHAUL_OUTPUT"`;

const PIPELINES = {
  waiting: `
${LEDGER}
outputs: { by: { value: work.by, type: integer } }
jobs:
  work:
    outputs: [by]
    steps:
      - { name: one, run: 'echo 1 >> "$INPUT_LEDGER"' }
      - name: two
        run: |${ALONE('two')}
      - name: three
        run: |
          echo 3 >> "$INPUT_LEDGER"
`,
  failing: `
${LEDGER}
jobs:
  work:
    steps:
      - { name: one, run: 'echo 1 >> "$INPUT_LEDGER"' }
      - { name: two, run: 'echo 2 >> "$INPUT_LEDGER"; [ -e "$INPUT_LEDGER.fixed" ]', retry: { attempts: 2, backoff: 1 } }
      - { name: three, run: 'echo 3 >> "$INPUT_LEDGER"' }
`,
  approved: `
${LEDGER}
jobs:
  work:
    steps:
      - { name: one, run: 'echo 1 >> "$INPUT_LEDGER"' }
      - name: gate
        approval: { message: Go?, fields: { properties: { ticket: { type: string } } } }
        run: 'echo "2 $APPROVAL_TICKET" >> "$INPUT_LEDGER"'
      - { name: three, run: 'echo 3 >> "$INPUT_LEDGER"' }
`,
  short: `
timeout-minutes: 0.2
${LEDGER}
jobs:
  work:
    steps:
      - { name: one, run: 'echo 1 >> "$INPUT_LEDGER"' }
      - { name: two, run: 'sleep 1; echo 2 >> "$INPUT_LEDGER"' }
      - { name: three, run: 'sleep 1; echo 3 >> "$INPUT_LEDGER"' }
`,
  queued: `
queue: { concurrency: 1 }
${LEDGER}
jobs:
  work:
    steps:
      - { name: one, run: 'echo 1 >> "$INPUT_LEDGER"; until [ -e "$INPUT_LEDGER.go" ]; do sleep 0.1; done' }
`,
  counting: `
${LEDGER}
outputs: { runs: { value: work.runs, type: integer } }
jobs:
  work:
    outputs: [runs]
    steps:
      - name: count
        run: |
          echo run >> "$INPUT_LEDGER"
          until [ -e "$INPUT_LEDGER.go" ]; do sleep 0.1; done
          echo "runs=$(wc -l < "$INPUT_LEDGER")" >> "$LONGHAUL_OUTPUT"
`,
};

// Its own worker, which a test kills.
const project = PipelineProject.ofFile(PIPELINES, 'own');

const resetTo = async (token: string, step: string) =>
  resetBefore(await project.parts.temporal(), token, schedules(step));

describe('a step whose process runs at the reset', () => {
  /** Expects that the step of the new run has begun once that of the replaced run has ended, and that only its end counts. */
  const expectNewOneCounts = async (token: string, ledger: string) => {
    await project.reaches(ledger, 'start two', 2);
    project.letGo(ledger);
    expect((await project.finish(token)).structuredContent).toEqual({ by: 2 });
    expect(project.lines(ledger)).toEqual(['1', 'start two', 'ended two', 'start two', 'done two', '3']);
  };

  test('has ended before the step begins again, and only the new one counts', async () => {
    const token = await project.startOn('waiting', 'waiting');
    await project.reaches('waiting', 'start two');
    await resetTo(token, 'work / two');
    await expectNewOneCounts(token, 'waiting');
  });

  test('of a killed worker is not reported to the new run, and not asked about', async () => {
    const token = await project.startOn('waiting', 'killed');
    await project.reaches('killed', 'start two');
    for (const part of project.parts.parts.slice(1)) {
      kill(part.process.pid!);
      await part.end();
    }
    await resetTo(token, 'work / two');
    project.parts.worker();
    await expectNewOneCounts(token, 'killed');
  });
});

test('a failed pipeline continues from the failing step, with all of its attempts', async () => {
  const token = await project.startOn('failing', 'failing');
  const { isError } = await project.finish(token);
  expect(isError).toBe(true);
  await resetTo(token, 'work / two');
  await project.reaches('failing', '2', 3);
  writeFileSync(join(project.ledgers, 'failing.fixed'), '');
  await project.client.until(token, (task) => task.status === 'completed' && !task.result.isError);
  expect(project.lines('failing')).toEqual(['1', '2', '2', '2', '2', '3']);
  const log = stepLogText(process.env['LONGHAUL_HOME']!, token, 'work', 2);
  expect(log.replaceAll(/[\dT:-]+Z/g, 'AT')).toBe(
    '--- attempt 2, AT\n--- attempt 3, AT, in a new workflow run\n--- attempt 4, AT\n',
  );
});

describe('an approval', () => {
  const answer = async (token: string, ticket: string) => {
    const { inputRequests } = await project.client.until(token, 'input_required');
    const [key] = Object.keys(inputRequests);
    await project.client.answer(token, key!, { action: 'accept', content: { ticket } });
    await project.client.until(token, 'completed');
  };
  const answered = async (ledger: string) => {
    const token = await project.startOn('approved', ledger);
    await answer(token, 'OPS-1');
    return token;
  };

  test('that the first workflow task after the reset asks is asked again', async () => {
    const token = await answered('asked-first');
    await resetBefore(await project.parts.temporal(), token, (event) =>
      /input-1/.test(
        Buffer.from(
          event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields?.['operation']?.data ?? [],
        ).toString(),
      ),
    );
    await answer(token, 'OPS-2');
    expect(project.lines('asked-first')).toEqual(['1', '2 OPS-1', '3', '2 OPS-2', '3']);
  });

  test('whose question is before the reset point, and its answer after it, is answered by that answer', async () => {
    const token = await answered('answered');
    await resetBefore(await project.parts.temporal(), token, (event) =>
      Boolean(event.workflowExecutionUpdateAcceptedEventAttributes),
    );
    await project.reaches('answered', '3', 2);
    await project.client.until(token, 'completed');
    expect(project.lines('answered')).toEqual(['1', '2 OPS-1', '3', '2 OPS-1', '3']);
  });
});

test('an operation that had its turn runs beside its queue after a reset, which returns no turn of others', async () => {
  project.letGo('first');
  const first = await project.startOn('queued', 'first');
  await project.finish(first);
  const second = await project.startOn('queued', 'second');
  await project.reaches('second', '1');
  // To its first workflow task, in which it asks for its turn.
  let isAfter = false;
  await resetBefore(await project.parts.temporal(), first, (event) => {
    if (isAfter) return true;
    isAfter = Boolean(event.workflowTaskCompletedEventAttributes);
    return false;
  });
  await project.reaches('first', '1', 2);
  await project.client.until(first, 'completed');
  const third = await project.startOn('queued', 'third');
  await project.client.until(third, (task) => /waiting for its turn/.test(task.statusMessage ?? ''));
  project.letGo('second');
  await project.finish(second);
  project.letGo('third');
  await project.finish(third);
});

test('the time between the reset point and the reset does not count to the maximum duration', async () => {
  const token = await project.startOn('short', 'short');
  await project.finish(token);
  const temporal = await project.parts.temporal();
  const { startTime } = await temporal.workflow.getHandle(token).describe();
  await eventually('the maximum has passed', () => Date.now() - startTime.getTime() > 13_000);
  await resetTo(token, 'work / two');
  await project.reaches('short', '3', 2);
  expect((await project.finish(token)).isError).toBeFalsy();
  expect(project.lines('short')).toEqual(['1', '2', '3', '2', '3']);
});

/** Reads an operation on both: whether it is open, and its result. */
async function readAll(token: string): Promise<Record<'task' | 'job', [isOpen: boolean, result?: any]>> {
  const { status, result } = await project.client.get(token);
  const jobs = new JobsClient(project.parts.base);
  const isJobOpen = (await jobs.job(token)).status === 'running';
  return {
    task: [status === 'working', result?.structuredContent],
    job: [isJobOpen, isJobOpen ? undefined : (await jobs.get(`/v1/jobs/${token}/result`)).body],
  };
}

test('a closed operation that is reset is open again, and ends with the new result', async () => {
  const token = await project.startOn('counting', 'closed');
  project.letGo('closed');
  await project.client.until(token, 'completed');
  const all = (isOpen: boolean, result?: object) => ({ task: [isOpen, result], job: [isOpen, result] });
  expect(await readAll(token)).toEqual(all(false, { runs: 1 }));

  rmSync(join(project.ledgers, 'closed.go'));
  await resetTo(token, 'work / count');
  await project.reaches('closed', 'run', 2);
  expect(await readAll(token)).toEqual(all(true));

  project.letGo('closed');
  await project.client.until(token, 'completed');
  expect(await readAll(token)).toEqual(all(false, { runs: 2 }));
});

test('a subscription to a task lasts through a reset, and has the end of the new run', async () => {
  const token = await project.startOn('counting', 'watched');
  await project.reaches('watched', 'run');
  const subscription = await project.client.listen({ taskIds: [token] });
  await resetTo(token, 'work / count');
  await project.reaches('watched', 'run', 2);
  project.letGo('watched');
  await eventually('its end is notified', () =>
    subscription.messages.some(({ params }) => params?.status === 'completed'),
  );
  subscription.close();
  const statuses = subscription.messages.flatMap(({ params }) => params?.status ?? []);
  expect(new Set(statuses)).toEqual(new Set(['working', 'completed']));
  expect((await project.client.get(token)).result.structuredContent).toEqual({ runs: 2 });
});
