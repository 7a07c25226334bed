/** Pages of `for-each` jobs with many items, as the pipeline's workflow sees them: child workflows with their own histories. */
import {
  condition,
  isCancellation,
  setHandler,
  startChild,
  TemporalFailure,
  WorkflowIdReusePolicy,
  workflowInfo,
  type ChildWorkflowHandle,
} from '@temporalio/workflow';
import { listed } from '../../operations/json/counted.js';
import { defined } from '../../operations/json/defined.js';
import { pageWorkflowId } from '../../pipelines/parts.js';
import type { ChildRecord } from '../../operations/record.js';
import { PAGE_WORKFLOW, type Job } from '../../pipelines/pipeline.js';
import {
  DROP_HOST_SIGNAL,
  GRANT_SLOTS_SIGNAL,
  pageName,
  RETURN_SLOTS_SIGNAL,
  type ArtifactReference,
  type ChildFailure,
  type PageResult,
  type PageResume,
  type PageRun,
} from '../../pipelines/run.js';
import { hasGates } from './gates.js';
import type { JobPart, SharedInputs } from './job-part.js';
import { countClosedSteps, showProgress } from './progress.js';
import { endAll, type Slots } from './slots.js';

/** Workflow task timeout of a page, like an operation's: a killed worker's tasks wait for it. */
const WORKFLOW_TASK_TIMEOUT = '5s';
const SHOWN_FAILURES = 5;

type PageWorkflow = (run: PageRun) => Promise<PageResult>;

const open = new Map<string, Page>();

export class Page implements JobPart {
  readonly record: ChildRecord;
  result: PageResult | undefined;
  #failure: ChildFailure | undefined;
  /** Page of an earlier operation that this one resumes. */
  earlier: PageResume | undefined;
  ended: Promise<void> = Promise.resolve();
  #handle: ChildWorkflowHandle<PageWorkflow> | undefined;
  #held = 0;
  /** Whether all its items have started, so it needs no more slots. */
  #isStarted = false;

  constructor(
    private readonly run: Omit<PageRun, 'artifacts' | 'slots' | 'resume'>,
    private readonly slots: Slots,
  ) {
    const { job, from, items } = run;
    const name = pageName(job, from, items.length);
    this.record = { name, status: 'pending', steps: [], page: { job, from, count: items.length } };
  }

  get name(): string {
    return this.record.name;
  }

  get job(): Job {
    return this.run.pipeline.jobs[this.run.job]!;
  }

  get count(): number {
    return this.run.items.length;
  }

  failures(): ChildFailure[] {
    return this.#failure ? [this.#failure] : (this.result?.failures ?? []);
  }

  get failureCount(): number {
    return this.#failure ? 1 : (this.result?.failureCount ?? 0);
  }

  artifacts(): ArtifactReference[] {
    return this.result?.artifacts ?? [];
  }

  outputs(key: string): (string | null)[] {
    return this.result?.outputs[key] ?? this.run.items.map(() => null);
  }

  get hasWork(): boolean {
    return this.result === undefined;
  }

  holdGates(areJobsBehind: boolean): void {
    const isHeld = areJobsBehind && hasGates(this.job);
    if (!isHeld || !this.earlier) return;
    this.earlier.areJobsBehind = true;
    if (this.result && this.record.approvedFor !== this.run.approvedFor) this.#reopen();
  }

  skip(): void {
    this.record.status = 'skipped';
    this.#countSteps();
  }

  #countSteps(): void {
    countClosedSteps(this.count * this.job.steps.length);
    showProgress();
  }

  complete(record: ChildRecord, result: PageResult): void {
    Object.assign(this.record, record);
    this.result = result;
    countClosedSteps(this.count * this.job.steps.length);
  }

  /** Runs its workflow again, which knows the approvals of its items. */
  #reopen(): void {
    const { name, page } = this.record;
    this.result = undefined;
    countClosedSteps(-this.count * this.job.steps.length);
    for (const key of Object.keys(this.record)) delete this.record[key as keyof ChildRecord];
    Object.assign(this.record, { name, status: 'pending', steps: [], page });
  }

  /** Starts the page with as many slots as are free, at least one. {@link ended} settles at its end. @throws CancelledFailure */
  async start(artifacts: ArtifactReference[]): Promise<void> {
    if (this.result) return;
    this.#held = await this.slots.take(this.#wanted);
    const workflowId = pageWorkflowId(workflowInfo().workflowId, this.name);
    this.record.status = 'working';
    this.record.page!.workflowId = workflowId;
    open.set(workflowId, this);
    this.ended = this.#follow(workflowId, artifacts);
    // The caller awaits it: no unhandled rejection until then.
    this.ended.catch(() => undefined);
  }

  get #wanted(): number {
    return Math.min(this.count, this.run.pipeline.concurrency);
  }

  /** Grants slots that become free, until all items of the page have started. @throws CancelledFailure */
  async startItems(): Promise<void> {
    const isComplete = () => this.#isStarted || this.result !== undefined;
    while (!isComplete()) {
      const missing = () => this.#wanted - this.#held;
      await condition(
        () => isComplete() || (this.#handle !== undefined && missing() > 0 && this.slots.free > 0),
      );
      const count = isComplete() ? 0 : this.slots.takeFree(missing());
      if (count === 0) continue;
      this.#held += count;
      await this.#handle!.signal(GRANT_SLOTS_SIGNAL, count).catch(ignoreClosed);
    }
  }

  async #follow(workflowId: string, artifacts: ArtifactReference[]): Promise<void> {
    try {
      this.#handle = await startChild<PageWorkflow>(PAGE_WORKFLOW, {
        workflowId,
        args: [
          {
            ...this.run,
            artifacts,
            slots: this.#held,
            ...(this.earlier ? { resume: this.earlier } : {}),
          },
        ],
        workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
        // A page of a replaced run may still be open: Temporal keeps children when their parent is reset.
        workflowIdReusePolicy: WorkflowIdReusePolicy.TERMINATE_IF_RUNNING,
        staticSummary: this.name,
      });
      this.#end(await this.#handle.result());
    } catch (error) {
      if (isCancellation(error) || !(error instanceof TemporalFailure)) throw error;
      const message = `${this.name}: ${error.cause?.message ?? error.message}`;
      this.#failure = { name: this.name, message, type: 'PageFailed' };
      this.record.status = 'failed';
      this.record.statusMessage = message.split('\n', 1)[0]!;
      this.#countSteps();
    } finally {
      open.delete(workflowId);
      this.#isStarted = true;
      this.slots.giveBack(this.#held);
      this.#held = 0;
    }
  }

  #end(result: PageResult): void {
    this.result = result;
    const { failures, failureCount } = result;
    this.record.status = failureCount > 0 ? 'failed' : 'completed';
    // A resumed page with nothing behind it hasn't asked for all approvals again.
    const isApproved =
      failureCount === 0 && hasGates(this.job) && (!this.earlier || this.earlier.areJobsBehind);
    if (isApproved) Object.assign(this.record, defined({ approvedFor: this.run.approvedFor }));
    if (failureCount > 0) {
      const names = failures.map(({ name }) => name);
      this.record.statusMessage = `${failureCount} of ${this.count} failed: ${listed(names, SHOWN_FAILURES, failureCount)}`;
    }
    this.#countSteps();
  }

  takeBack(count: number): void {
    this.#isStarted = true;
    this.#held -= count;
    this.slots.giveBack(count);
  }

  dropHost(host: string): void {
    void this.#handle?.signal(DROP_HOST_SIGNAL, host).catch(ignoreClosed);
  }

  /** Its workflow is cancelled with the pipeline's, and ends its own children. */
  endUnfinished(reason: 'canceled' | 'timed_out' | 'failed'): Promise<void> {
    if (!['completed', 'failed', 'skipped'].includes(this.record.status))
      this.record.status = reason === 'timed_out' ? 'timed_out' : 'canceled';
    return Promise.resolve();
  }
}

function ignoreClosed(error: unknown): void {
  if (!(error instanceof TemporalFailure) || isCancellation(error)) throw error;
}

export function handleReturnedSlots(): void {
  setHandler(RETURN_SLOTS_SIGNAL, ({ workflowId, count }) => open.get(workflowId)?.takeBack(count), {
    description: 'A page needs fewer slots, since all of its items have started.',
  });
}

export function dropHostOfPages(host: string): void {
  for (const page of open.values()) page.dropHost(host);
}

export function pagesOf(
  run: { pipeline: PageRun['pipeline']; job: string; items: unknown[]; shared: SharedInputs },
  sizes: number[],
  slots: Slots,
): Page[] {
  const { pipeline, job, items, shared } = run;
  const own = { ...pipeline, inputs: {}, jobs: { [job]: pipeline.jobs[job]! } };
  let from = 0;
  return sizes.map((size) => {
    const range = { job, from, items: items.slice(from, from + size) };
    from += size;
    return new Page({ pipeline: own, ...range, ...defined(shared) }, slots);
  });
}

/** Runs pages in order: the next one starts once all items of the last one have started. */
export async function runPages(pages: Page[], artifacts: () => ArtifactReference[]): Promise<void> {
  const ends: Promise<void>[] = [];
  // A cancel ends the job only after its pages have ended.
  await endAll(ends, async () => {
    for (const page of pages) {
      await page.start(artifacts());
      ends.push(page.ended);
      await page.startItems();
    }
  });
}
