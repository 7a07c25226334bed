/** Replays histories with the code of this build: Longhaul's workflows and the project's. */
import type { History } from '@temporalio/worker';
import type { Settings } from '../../platform/settings/index.js';
import { bundleInChildProcess } from '../../worker/versions/bundle.js';
import { HistoryFileError, readHistoryFile } from '../../worker/replay/history-file.js';
import type { ReplaySettings } from '../../worker/replay/process.js';
import { Replayer } from '../../worker/replay/replayer.js';
import type { SelectedHistory } from './histories.js';
import { storageChoice } from '../../platform/storage/index.js';
import { reportOf, unknownType, workflowTypeOf, type Report } from './report.js';

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
