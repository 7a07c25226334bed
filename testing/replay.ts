/** Replays histories with a project's current workflows. */
import { storageChoice } from '../platform/storage/index.js';
import type { History } from '@temporalio/worker';
import type { Settings } from '../platform/settings/index.js';
import { bundleInChildProcess } from '../worker/versions/bundle-in-child.js';
import { describeProblem } from '../worker/replay/describe.js';
import { HistoryFileError, readHistoryFile } from '../worker/replay/history-file.js';
import { Replayer } from '../worker/replay/replayer.js';
import { ReplayError } from './errors.js';

/** Time limit of a replay, in milliseconds. */
const REPLAY_LIMIT_MS = 60_000;

/** @param history from Temporal's client, or the path of a JSON file @throws ReplayError */
export async function replayHistory(settings: Settings, history: History | string): Promise<void> {
  const replayed = typeof history === 'string' ? await readHistory(history) : history;
  const { codePath } = await bundleInChildProcess(settings).catch(refuse);
  const replayer = new Replayer({ codePath, storage: storageChoice(settings) });
  try {
    const outcome = await replayer.replay(replayed, 'replayed', REPLAY_LIMIT_MS);
    if (outcome.verdict === 'timed_out')
      throw new ReplayError(`the code blocked its thread for ${REPLAY_LIMIT_MS / 1_000} s`, false);
    if ('message' in outcome) throw new ReplayError(describeProblem(outcome), outcome.isNondeterministic);
  } finally {
    await replayer.close();
  }
}

async function readHistory(path: string): Promise<History> {
  try {
    return await readHistoryFile(path);
  } catch (error) {
    if (!(error instanceof HistoryFileError)) throw error;
    return refuse(error);
  }
}

function refuse(error: Error): never {
  throw new ReplayError(error.message, false);
}
