/**
 * Workflow of a page: a range of a `for-each` job's items, run like the jobs of a small pipeline. It shares the pipeline's
 * concurrency: it gets slots from the pipeline's workflow and returns the ones it no longer needs.
 */
import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  proxyActivities,
  setHandler,
  TemporalFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type * as activities from '../../activities/pipeline/index.js';
import {
  GRANT_SLOTS_SIGNAL,
  NAMED_FAILURES,
  RETURN_SLOTS_SIGNAL,
  type PageResume,
  type PageResult,
  type PageRun,
} from '../../pipelines/run.js';
import { children as showChildren, cleanup, progress } from '../runtime/index.js';
import { Child } from './child.js';
import { endParts } from './job-part.js';
import { handleDropHost } from './hosts.js';
import { countStepsOf, showProgress } from './progress.js';
import { applyResume } from './resume.js';
import { Slots } from './slots.js';

/** How long a few free slots wait for more, in milliseconds: each return adds to two histories. */
const RETURN_AFTER_MS = 5_000;

/** @returns what the pipeline's result needs; the children's records stay here */
export async function pipeline_page(run: PageRun): Promise<PageResult> {
  const { pipeline, job, from, inputs, createdAt, approvedFor, items } = run;
  const children = items.map(
    (item, at) => new Child(pipeline, { job, index: from + at }, { inputs, createdAt, approvedFor }, item),
  );
  const records = children.map((child) => child.record);
  showChildren(records);
  countStepsOf(records);
  handleDropHost();
  const slots = new Slots(run.slots);
  setHandler(GRANT_SLOTS_SIGNAL, (count) => slots.change(count), {
    description: 'More items of this page may run side by side: how many more.',
  });
  progress({ total: records.reduce((sum, { steps }) => sum + steps.length, 0) });
  cleanup((reason) => endParts(children, reason));
  if (run.resume) await takeOver(run, children, run.resume);
  showProgress();
  await runAll(run, children, slots);
  const failures = children.flatMap((child) => child.failures());
  return {
    failures: failures.slice(0, NAMED_FAILURES),
    failureCount: failures.length,
    outputs: Object.fromEntries(
      Object.values(pipeline.outputs)
        .filter((output) => output.job === job)
        .map(({ key }) => [key, children.flatMap((child) => child.outputs(key))]),
    ),
    artifacts: children.flatMap((child) => child.artifacts()),
  };
}

async function takeOver(
  { pipeline }: PageRun,
  children: Child[],
  { workflowId, pageId, from, areJobsBehind = false }: PageResume,
): Promise<void> {
  const { readPipelinePage } = proxyActivities<typeof activities>({
    startToCloseTimeout: '1m',
    retry: { maximumAttempts: 10 },
    summary: 'reading the earlier operation',
  });
  const earlier = await readPipelinePage(pageId);
  applyResume(pipeline, { children }, { workflowId, children: earlier, ...(from ? { from } : {}) });
  for (const child of children) child.holdGates(areJobsBehind);
}

async function runAll({ artifacts }: PageRun, children: Child[], slots: Slots): Promise<void> {
  let waiting = children.length;
  let running = children.length;
  const isStarted = () => waiting === 0;
  const isDone = () => running === 0;
  const returning = new CancellationScope();
  returning.run(() => returnSlots(slots, isStarted, isDone)).catch(() => undefined);
  try {
    await slots.runAll(children, (child) => {
      waiting -= 1;
      return child.run(artifacts).finally(() => (running -= 1));
    });
  } finally {
    returning.cancel();
  }
}

/** Returns free slots once all items have started: a quarter of them at a time, or fewer after a while. */
async function returnSlots(slots: Slots, isStarted: () => boolean, isDone: () => boolean): Promise<void> {
  await condition(isStarted);
  for (;;) {
    await condition(() => slots.free > 0);
    const enough = Math.ceil(slots.total / 4);
    await condition(() => slots.free >= enough || isDone(), RETURN_AFTER_MS);
    if (isDone()) return;
    const count = slots.free;
    slots.change(-count);
    const { parent, workflowId } = workflowInfo();
    try {
      await getExternalWorkflowHandle(parent!.workflowId).signal(RETURN_SLOTS_SIGNAL, { workflowId, count });
    } catch (error) {
      // A pipeline that has ended needs no slots.
      if (!(error instanceof TemporalFailure) || isCancellation(error)) throw error;
    }
  }
}
