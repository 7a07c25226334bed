/** Steps that leave records in systems, and the way back. For workflows. */
import { proxyActivities } from '@temporalio/workflow';
import { partial, stage } from 'longhaul/workflow';
import type * as activities from '../activities/onboard_vendor.js';
import type { Wanted } from '../activities/onboard_vendor.js';

const { createRecord } = proxyActivities<typeof activities>({
  startToCloseTimeout: '30s',
  heartbeatTimeout: '10s',
  // A system may be down for hours: an attempt each minute, until it is back.
  scheduleToCloseTimeout: '6h',
  retry: { initialInterval: '500ms', maximumInterval: '1m' },
  // The way back begins once no request is under way any more from here.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
});

const { undoRecord } = proxyActivities<typeof activities>({
  startToCloseTimeout: '30s',
  heartbeatTimeout: '10s',
  // No limit but the tool's cleanupSeconds: giving up leaves something behind.
  retry: { initialInterval: '500ms', maximumInterval: '1m' },
});

/** A step's record, as the partial result and the result show it. */
export interface StepRecord {
  step: string;
  /** `unknown`: the request was sent, and no answer has come. */
  state: 'unknown' | 'done' | 'undone';
  id?: string;
}

export class Saga {
  readonly #steps: (Wanted & StepRecord)[] = [];

  get records(): StepRecord[] {
    return this.#steps.map(({ step, state, id }) => ({ step, state, ...(id ? { id } : {}) }));
  }

  /** Creates a step's record. It is known to {@link undo} before the request is sent: a request without an answer may have succeeded. */
  async create(step: string, path: string, body: object): Promise<string> {
    const entry: Wanted & StepRecord = { step, path, body, state: 'unknown' };
    this.#steps.push(entry);
    entry.id = await createRecord({ step, path, body });
    entry.state = 'done';
    partial({ records: this.records });
    return entry.id;
  }

  /** Removes the records, the last one first. A second call continues where the first has stopped. */
  async undo(): Promise<void> {
    stage('remove the records');
    for (const entry of this.#steps.toReversed()) {
      if (entry.state === 'undone') continue;
      const { step, path, body, id } = entry;
      entry.id = await undoRecord({ step, path, body, id });
      entry.state = 'undone';
      partial({ records: this.records });
    }
  }
}
