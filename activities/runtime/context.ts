/** Context and outcome of an operation's activity. The worker sets the context, and the functions that authors call read it. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Progress } from '../../operations/record.js';
import type { ActivityReport } from '../../operations/wire/report.js';
import type { Settings } from '../../platform/settings/index.js';
import type { HostSteps } from '../../worker/steps/host-steps.js';
import type { Storage } from '../../platform/storage/index.js';
import type { AttemptRecord } from './attempt-span.js';

export type ActivityOutcome =
  | { status: 'completed'; result: unknown }
  | { status: 'failed'; error: unknown }
  /** Temporal had requested its cancellation. */
  | { status: 'canceled' };

/** Line in logs about an outcome that Temporal has refused. */
export const OUTCOME_REFUSED = "Temporal refused the activity's outcome";

export interface EndedActivity {
  taskToken: Uint8Array;
  workflowId: string;
  runId: string;
  /** For the next attempt if this one failed, and for the operation's progress if it was cancelled. */
  lastReport?: ActivityReport | undefined;
  /** After each failed attempt to report, gets what the report waits for if that is storage. */
  onWait?: (message: string | undefined) => void;
  /** Called when Temporal refuses the outcome for good. */
  onRefused: (reason: string) => void;
}

/** Reports an outcome to Temporal, retrying until the drain ends or `stopping` fires. @returns whether Temporal needs no other report */
export type ReportOutcome = (
  ended: EndedActivity,
  outcome: ActivityOutcome,
  stopping?: AbortSignal,
) => Promise<boolean>;

/** An outcome that another worker of the host can report too. */
export interface KeptOutcome {
  /** Called once Temporal has it. */
  forget: () => Promise<void>;
  /** Called when this activity won't report it. */
  leave: () => void;
}

export interface ActivityContext {
  settings: Settings;
  storage: Storage;
  token: string;
  /** The operation's workflow ID. In a part, the activity's workflow has another one. */
  operationId: string;
  /** The pipeline steps that this worker follows. */
  steps: HostSteps;
  /** The last report; initially the previous attempt's. */
  progress: Progress | undefined;
  /** The previous attempt's last report, until this attempt has caught up. */
  earlier?: Progress | undefined;
  /** Called at this attempt's first report. */
  onFirstReport?: () => void;
  /** Fails the attempt, for an error that its promise doesn't get. */
  fail?: (error: Error) => void;
  /** Fires when the worker is asked to stop. */
  stopping: AbortSignal;
  /** Span of the attempt; undefined if none is recorded. */
  attempt?: AttemptRecord | undefined;
  /** Set by an activity whose outcome is on this host's disk. */
  kept?: KeptOutcome;
}

/** Global, because a user's TypeScript may be loaded with a second copy of this module. */
const KEY = Symbol.for('longhaul.activity.context');
const globals = globalThis as { [KEY]?: AsyncLocalStorage<ActivityContext> };

export const activityContext: AsyncLocalStorage<ActivityContext> = (globals[KEY] ??= new AsyncLocalStorage());

/** @throws Error outside of an activity that a Longhaul worker runs */
export function currentContext(): ActivityContext {
  const found = activityContext.getStore();
  if (!found) throw new Error('called outside of an activity that a Longhaul worker runs');
  return found;
}
