/**
 * Replays a history in a process of its own, where no test runner has its hands on modules. Started with the settings in its
 * environment and the path of the history, as JSON, as its argument; sends one message.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from '@temporalio/worker';
import { loadSettings } from '../platform/config.js';
import { dataConverterOf } from '../platform/data-converter.js';
import { createLogger } from '../platform/log.js';
import { storageOf } from '../platform/storage.js';
import { installRuntime } from '../platform/temporal-runtime.js';
import { workflowBundle } from '../worker/bundle.js';

/** Outcome of a replay; no `failure` if the history replays. */
export type ReplayAnswer = { failure?: { message: string; isNondeterministic: boolean } };

async function replay(path: string): Promise<ReplayAnswer> {
  try {
    const settings = await loadSettings();
    const codePath = await workflowBundle(settings);
    installRuntime(createLogger('replay', 'silent'));
    const dataConverter = dataConverterOf(storageOf(settings));
    const history = JSON.parse(readFileSync(path, 'utf8')) as unknown;
    await Worker.runReplayHistory({ workflowBundle: { codePath }, dataConverter }, history);
    return {};
  } catch (error) {
    const { name, message } = error as Error;
    return { failure: { message, isNondeterministic: name === 'DeterminismViolationError' } };
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.on('disconnect', () => process.exit(0));
  process.send!(await replay(process.argv[2]!));
}
