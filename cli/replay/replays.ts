/** Replays histories with the code of this build, Longhaul's workflows and the project's, and reports on each. */
import type { History } from '@temporalio/worker';
import { didYouMean } from '../../operations/json/near-names.js';
import type { Settings } from '../../platform/settings/index.js';
import { storageChoice } from '../../platform/storage/index.js';
import { bundleInChildProcess } from '../../worker/versions/bundle.js';
import { describeDifference, describeFrame, type Difference } from '../../worker/replay/explain.js';
import { HistoryFileError, readHistoryFile } from '../../worker/replay/history-file.js';
import type { ReplaySettings } from '../../worker/replay/process.js';
import { Replayer, type ReplayOutcome } from '../../worker/replay/replayer.js';
import type { SelectedHistory } from './histories.js';

/** `unknown_type`: this build has no such workflow. `unreadable`: the file holds no history. */
type Verdict = ReplayOutcome['verdict'] | 'unknown_type' | 'unreadable';

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

export class Replays {
  readonly #replayer: Replayer;

  private constructor(
    settings: ReplaySettings,
    /** Types of workflows that the bundle has. */
    private readonly exported: readonly string[],
    private readonly timeoutSeconds: number,
  ) {
    this.#replayer = new Replayer(settings);
  }

  /** @param inspectPort waits there for a debugger, which stops before each replay @throws BundleError for unbundlable workflows */
  static async start(settings: Settings, timeoutSeconds: number, inspectPort?: number): Promise<Replays> {
    const { codePath, exports } = await bundleInChildProcess(settings);
    const replaySettings = { codePath, storage: storageChoice(settings), inspectPort };
    return new Replays(replaySettings, Object.keys(exports), timeoutSeconds);
  }

  /** Replays a history from Temporal. */
  async of({ workflowId, runId, history }: SelectedHistory): Promise<Report> {
    return { workflowId, runId, ...(await this.#replay(history, workflowId)) };
  }

  /** Replays a file. An unreadable file gives a report too, so that other files are still replayed. */
  async ofFile(file: string): Promise<Report> {
    try {
      return { file, ...(await this.#replay(await readHistoryFile(file), file)) };
    } catch (error) {
      if (!(error instanceof HistoryFileError)) throw error;
      return { verdict: 'unreadable', fits: false, file, problem: error.message };
    }
  }

  close(): Promise<void> {
    return this.#replayer.close();
  }

  async #replay(history: History, workflowId: string): Promise<Report> {
    const type = workflowTypeOf(history);
    const about = { type, events: history.events?.length ?? 0 };
    if (!this.exported.includes(type)) return { ...unknownType(type, this.exported), ...about };
    const outcome = await this.#replayer.replay(history, workflowId, this.timeoutSeconds * 1_000);
    return { ...about, ...reportOf(outcome, this.timeoutSeconds) };
  }
}

function workflowTypeOf({ events }: History): string {
  return events?.[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name ?? '';
}

function unknownType(
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
function reportOf(outcome: ReplayOutcome, limitSeconds: number): Report {
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
