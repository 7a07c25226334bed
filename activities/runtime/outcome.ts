/** How an activity ended, as it is reported to Temporal. */
import type { ActivityReport } from '../../operations/report.js';

export type ActivityOutcome =
  | { status: 'completed'; result: unknown }
  | { status: 'failed'; error: unknown }
  /** Temporal had asked for its cancellation. */
  | { status: 'canceled' };

/** The attempt of an activity that has ended. */
export interface EndedActivity {
  taskToken: Uint8Array;
  workflowId: string;
  runId: string;
  /** For the next attempt if this one failed, and for the operation's progress if it was cancelled. */
  lastReport?: ActivityReport | undefined;
}

/**
 * Reports an outcome to Temporal, for as long as that takes.
 *
 * @returns true once Temporal has it, or waits for it no longer; false when it can't be reported in this way, or the
 *   worker stops first
 */
export type ReportOutcome = (ended: EndedActivity, outcome: ActivityOutcome) => Promise<boolean>;
