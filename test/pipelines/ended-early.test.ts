/** Work that is ended before it is done: cancel and maximum duration. */
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { LEDGER, PipelineProject, stepStatuses, textOf } from './support.js';

jest.setTimeout(PROCESSES_MS);

const PIPELINES = {
  slow: `
${LEDGER}
jobs:
  work:
    artifacts: [kept.txt]
    outputs: [half]
    steps:
      - run: |
          echo half-way > kept.txt
          echo "half=done" >> "$LONGHAUL_OUTPUT"
      - name: Long
        run: |
          trap 'echo terminated >> "$INPUT_LEDGER"; exit 1' TERM
          echo started >> "$INPUT_LEDGER"
          while true; do sleep 0.1; done
      - { name: never, run: 'echo never >> "$INPUT_LEDGER"' }
      - { name: always, if: always, run: 'echo always >> "$INPUT_LEDGER"' }
  later:
    needs: work
    steps: [{ run: 'echo never >> "$INPUT_LEDGER"' }]
`,
  short_of_time: `
timeout-minutes: 0.05
${LEDGER}
jobs:
  work:
    steps:
      - { name: Long, run: 'echo started >> "$INPUT_LEDGER"; sleep 600' }
      - { name: always, if: always, run: 'echo always >> "$INPUT_LEDGER"' }
`,
};

let project: PipelineProject;
beforeAll(async () => {
  project = await PipelineProject.shared(PIPELINES);
}, PROCESSES_MS);
afterAll(() => project?.stop());

test('cancel ends the running step in good order, then runs what runs always', async () => {
  const token = await project.startOn('slow', 'cancelled');
  await eventually('the step runs', () => project.lines('cancelled').includes('started'));
  await project.client.request('tasks/cancel', { taskId: token });
  await project.client.until(token, 'cancelled');
  expect(project.lines('cancelled')).toEqual(['started', 'terminated', 'always']);
  const children = await project.children(token);
  expect(stepStatuses(children)).toEqual({
    'work/1': 'completed',
    'work/2': 'canceled',
    'work/3': 'canceled',
    'work/4': 'completed',
    'later/1': 'canceled',
  });
  expect(children[0]).toMatchObject({ status: 'canceled', outputs: { half: 'done' } });
  expect(children[0].artifacts).toMatchObject([{ name: 'work/kept.txt', bytes: 9 }]);
});

test('the maximum duration does the same', async () => {
  const token = await project.startOn('short_of_time', 'late');
  const result = await project.finish(token);
  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain('longer than its maximum');
  expect(project.lines('late')).toEqual(['started', 'always']);
});
