/** Cancel of an operation while it saves artifacts. */
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { rmSync } from 'node:fs';
import { eventually } from '../stack/cli-process.js';
import { OUTAGE_MS, PROCESSES_MS } from '../support/limits.js';
import { PipelineProject } from './support.js';

jest.setTimeout(OUTAGE_MS);
const PIPELINES = {
  disks: `
inputs: { properties: { ledger: { type: string } }, required: [ledger] }
jobs:
  make:
    artifacts: [images]
    steps:
      - run: |
          mkdir images
          for i in {1..40}; do truncate -s 9G images/$i; done
          pwd >> "$INPUT_LEDGER"
`,
};

let project: PipelineProject;
beforeAll(async () => {
  project = await PipelineProject.shared(PIPELINES);
}, PROCESSES_MS);
afterAll(() => project?.stop());

test('a cancelled operation says canceled once its files are no longer copied', async () => {
  const token = await project.startOn('disks', 'disks');
  const handle = (await project.parts.temporal()).workflow.getHandle(token);
  const events = async () => (await handle.fetchHistory()).events ?? [];
  const saves = async () =>
    (await events()).flatMap(({ eventId, activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled?.activityType?.name === 'savePipelineArtifacts' ? [Number(eventId)] : [],
    );
  const saving = await eventually('a worker copies the files', async () => {
    const [first] = await saves();
    const { raw } = await handle.describe();
    return raw.pendingActivities?.some(({ state }) => state === 2) ? first : undefined;
  });
  await project.client.request('tasks/cancel', { taskId: token });
  const ended = await eventually('the copy has ended', async () => {
    const found = (await events()).find(
      ({ activityTaskCanceledEventAttributes: canceled }) => Number(canceled?.scheduledEventId) === saving,
    );
    return found && Number(found.eventId);
  });
  // The operation's end saves what is there by then.
  rmSync(`${project.lines('disks')[0]!}/images`, { recursive: true });
  await project.client.until(token, 'cancelled', OUTAGE_MS);
  const [, again] = await saves();
  expect(again).toBeGreaterThan(ended);
});
