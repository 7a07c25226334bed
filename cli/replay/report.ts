/** The report of `longhaul replay` on a history. */
import type { History } from '@temporalio/worker';
import { didYouMean } from '../../operations/json/near-names.js';
import { describeDifference, describeFrame, type Difference } from '../../worker/replay/explain.js';
import type { ReplayOutcome } from '../../worker/replay/replayer.js';

/** `unknown_type`: this build has no such workflow. `unreadable`: the file holds no history. */
export type Verdict = ReplayOutcome['verdict'] | 'unknown_type' | 'unreadable';

/** One history, as in `--json`. */
export interface Report {
  verdict: Verdict;
  fits: boolean;
  /** The history's file. */
  file?: string;
  workflowId?: string;
  runId?: string;
  /** Workflow type. */
  type?: string;
  events?: number;
  /** The reason, in a line. */
  problem?: string;
  /** Temporal's message, for `differs` and `fails`. */
  message?: string;
  difference?: Difference;
}

export function workflowTypeOf({ events }: History): string {
  return events?.[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name ?? '';
}

export function unknownType(
  type: string,
  exported: readonly string[],
): Pick<Report, 'verdict' | 'fits' | 'problem'> {
  const near = didYouMean(type, exported) || ';';
  return {
    verdict: 'unknown_type',
    fits: false,
    problem: `this build has no workflow "${type}"${near} neither Longhaul's own nor the project's workflows/ export it`,
  };
}

/** @param limitSeconds time-out of the replay */
export function reportOf(outcome: ReplayOutcome, limitSeconds: number): Report {
  const { verdict } = outcome;
  switch (verdict) {
    case 'fits':
      return { verdict, fits: true };
    case 'not_run':
      return { verdict, fits: true, problem: 'nothing to replay: no worker has run it yet' };
    case 'timed_out':
      return {
        verdict,
        fits: false,
        problem: `the replay took longer than ${limitSeconds} s: its code blocks the thread`,
      };
    default: {
      const { message, difference } = outcome;
      const problem = describeDifference(outcome);
      return { verdict, fits: false, problem, message, ...(difference ? { difference } : {}) };
    }
  }
}

const WORDS: Record<Verdict, string> = {
  fits: 'fits',
  not_run: 'fits',
  differs: 'DIFFERS',
  fails: 'FAILS',
  timed_out: 'TIMED OUT',
  unknown_type: 'UNKNOWN',
  unreadable: 'UNREADABLE',
};

const SHOWN_CALLERS = 5;

export function linesOf(report: Report): string[] {
  const { verdict, file, workflowId, runId, type, events, problem, message, difference } = report;
  const about = [
    file ?? workflowId,
    type,
    ...(file === undefined && runId ? [`run ${runId}`] : []),
    ...(events === undefined ? [] : [`${events} events`]),
  ].filter(Boolean);
  const head = `${WORDS[verdict]}  ${about.join(', ')}`;
  if (problem === undefined) return [head];
  const [first, ...callers] = (difference?.callers ?? []).slice(0, SHOWN_CALLERS);
  return [
    head,
    `  ${problem}`,
    ...(first ? [`  in ${describeFrame(first)}`] : []),
    ...callers.map((frame) => `    called by ${describeFrame(frame)}`),
    ...(message !== undefined && verdict === 'differs' ? [`  Temporal: ${message}`] : []),
  ];
}
