/** Outcome of an activity, as it is reported to Temporal. */
import type { ActivityReport } from '../../operations/report.js';

export type ActivityOutcome =
  | { status: 'completed'; result: unknown }
  | { status: 'failed'; error: unknown }
  /** Temporal had requested its cancellation. */
  | { status: 'canceled' };

export interface EndedActivity {
  taskToken: Uint8Array;
  workflowId: string;
  runId: string;
  /** For the next attempt if this one failed, and for the operation's progress if it was cancelled. */
  lastReport?: ActivityReport | undefined;
  /** After each failed attempt to report, gets what the report waits for if that is storage. */
  onWait?: (message: string | undefined) => void;
}

/** Reports an outcome to Temporal, retrying until the drain ends or `stopping` fires. @returns whether Temporal needs no other report */
export type ReportOutcome = (
  ended: EndedActivity,
  outcome: ActivityOutcome,
  stopping?: AbortSignal,
) => Promise<boolean>;
