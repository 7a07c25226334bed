/** Resets of a pipeline whose items run in pages: child workflows, each with its own run. */
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { STACK_MS } from '../support/limits.js';
import { resetBefore, type HistoryEvent } from '../support/reset-workflow.js';
import { PipelineProject } from './support.js';

jest.setTimeout(STACK_MS);

/** Steps that count as events of history, of which none runs: 60 items need pages. */
const NEVER = Array.from(
  { length: 20 },
  (_, at) => `      - { name: never ${at}, if: failure, run: 'false' }`,
).join('\n');

const PAGED = `
concurrency: 8
inputs: { properties: { items: { type: array }, ledger: { type: string } }, required: [items, ledger] }
outputs: { done: { value: each.done, type: integer } }
jobs:
  first:
    steps: [{ name: one, run: 'echo one >> "$INPUT_LEDGER"' }]
  each:
    needs: first
    for-each: items
    outputs: [done]
    steps:
      - name: work
        run: |
          echo "start $LONGHAUL_ITEM" >> "$INPUT_LEDGER"
          if [ "$LONGHAUL_ITEM" = 0 ]; then
            mkdir "$INPUT_LEDGER.lock" || echo overlap >> "$INPUT_LEDGER"
            trap 'sleep 1; rmdir "$INPUT_LEDGER.lock"; exit 1' TERM
            until [ -e "$INPUT_LEDGER.go" ]; do sleep 0.1; done
          fi
          echo "done $LONGHAUL_ITEM" >> "$INPUT_LEDGER"
          echo "done=$LONGHAUL_ITEM" >> "$LONGHAUL_OUTPUT"
${NEVER}
  after:
    needs: each
    steps:
      - { name: last, run: 'echo last >> "$INPUT_LEDGER"' }
`;

let project: PipelineProject;
beforeAll(async () => {
  project = await PipelineProject.shared({ paged: PAGED });
}, STACK_MS);
afterAll(() => project?.stop());

const items = Array.from({ length: 60 }, (_, at) => at);
const has = (ledger: string, line: string, count = 1) => project.reaches(ledger, line, count, STACK_MS);
const count = (ledger: string, line: string) => project.lines(ledger).filter((one) => one === line).length;

/** The first event after the workflow task that learned of a page's start. */
function afterFirstStart(): (event: HistoryEvent) => boolean {
  let seen = 0;
  return (event) => {
    if (seen === 0 && event.childWorkflowExecutionStartedEventAttributes) seen = 1;
    else if (seen === 1 && event.workflowTaskCompletedEventAttributes) seen = 2;
    else return seen === 2;
    return false;
  };
}

/** Runs under the ID of a page, by status, the latest first. */
async function runsOf(page: string): Promise<string[]> {
  const client = await project.parts.temporal();
  const runs: string[] = [];
  for await (const { status } of client.workflow.list({ query: `WorkflowId = "${page}"` }))
    runs.push(status.name);
  return runs;
}

test('pages that begin after the reset point begin again: those of the replaced run are ended first', async () => {
  const client = await project.parts.temporal();
  const token = await project.startOn('paged', 'anew', { items });
  await has('anew', 'done 8');
  await resetBefore(client, token, (event) =>
    Boolean(event.startChildWorkflowExecutionInitiatedEventAttributes),
  );
  await has('anew', 'start 0', 2);
  project.letGo('anew');
  expect((await project.finish(token, STACK_MS)).structuredContent).toEqual({ done: items });
  expect(project.lines('anew')).not.toContain('overlap');
  const counts = ['one', 'done 0', 'done 8', 'last'].map((line) => count('anew', line));
  expect(counts).toEqual([1, 1, 2, 1]);
  await eventually(
    'visibility has both runs',
    async () => (await runsOf(`${token}/each[0-24]`)).length === 2,
  );
  expect(await runsOf(`${token}/each[0-24]`)).toEqual(['COMPLETED', 'TERMINATED']);
});

test('a page that had begun before the reset point continues, and its items run once', async () => {
  const client = await project.parts.temporal();
  const token = await project.startOn('paged', 'kept', { items });
  await has('kept', 'done 30');
  await resetBefore(client, token, afterFirstStart());
  await has('kept', 'done 30', 2);
  project.letGo('kept');
  expect((await project.finish(token, STACK_MS)).structuredContent).toEqual({ done: items });
  const counts = ['one', 'start 0', 'done 0', 'done 8', 'done 30', 'last'].map((line) => count('kept', line));
  expect(counts).toEqual([1, 1, 1, 1, 2, 1]);
});
