/**
 * Bundles workflows in a child process: the worker's heartbeats continue meanwhile, and the bundler's memory is freed.
 * Started with the worker's settings in its environment; sends one message.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { loadSettings, SettingsError, settingsToEnvironment, type Settings } from '../platform/config.js';
import type { ProjectProblem } from '../platform/project-problems.js';
import { BundleError, bundleWorkflows, upToDateBundle, type WorkflowBundle } from './bundle.js';

const LEAVES_OUT = 'leaves-out';

type Message =
  { bundle: WorkflowBundle } | { problems: ProjectProblem[]; watched: string[] } | { failure: string };

/**
 * Like {@link bundleWorkflows}, without blocking this process.
 *
 * @throws BundleError
 */
export async function bundleInChildProcess(
  settings: Settings,
  options: { leavesOut?: boolean; signal?: AbortSignal } = {},
): Promise<WorkflowBundle> {
  const stored = upToDateBundle(settings);
  if (stored && (options.leavesOut || stored.problems.length === 0)) return stored;
  const child = fork(fileURLToPath(import.meta.url), options.leavesOut ? [LEAVES_OUT] : [], {
    env: { ...process.env, ...settingsToEnvironment(settings) },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    ...(options.signal ? { signal: options.signal } : {}),
  });
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code, signal]) => [{ failure: `the bundler ended with ${code ?? signal}` }]),
  ])) as [Message];
  if (child.connected) child.disconnect();
  if ('bundle' in message) return message.bundle;
  if ('problems' in message) throw new BundleError(message.problems, message.watched);
  throw new SettingsError(`the workflows can't be bundled: ${message.failure}`);
}

async function answer(): Promise<Message> {
  try {
    const bundle = await bundleWorkflows(await loadSettings(), { leavesOut: process.argv[2] === LEAVES_OUT });
    return { bundle };
  } catch (error) {
    if (error instanceof BundleError) return { problems: error.problems, watched: error.watched };
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // The worker has the answer, or is gone.
  process.on('disconnect', () => process.exit(0));
  if (!process.connected) process.exit(0);
  // With a callback, a channel that has closed meanwhile is no unhandled error.
  process.send!(await answer(), undefined, undefined, () => undefined);
}
