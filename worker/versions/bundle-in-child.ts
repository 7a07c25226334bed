/** Bundles workflows in a child process, so the worker's heartbeats continue and the bundler's memory is freed. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { SettingsError, settingsToEnvironment, type Settings } from '../../platform/settings/index.js';
import { builtProgram } from '../../platform/home/program.js';
import type { ProjectProblem } from '../../platform/project/problems.js';
import { BundleError, upToDateBundle, type BundleOptions, type WorkflowBundle } from './bundle.js';

/** The child sends exactly one. */
export type BundleMessage =
  { bundle: WorkflowBundle } | { problems: ProjectProblem[]; watched: string[] } | { failure: string };

/** {@link bundleWorkflows} without blocking this process. @throws BundleError */
export async function bundleInChildProcess(
  settings: Settings,
  options: BundleOptions = {},
): Promise<WorkflowBundle> {
  const stored = options.kept ? undefined : upToDateBundle(settings);
  if (stored && (options.leavesOut || stored.problems.length === 0)) return stored;
  const child = fork(builtProgram('bundle-workflows'), [JSON.stringify(options)], {
    env: { ...process.env, ...settingsToEnvironment(settings) },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code, signal]) => [{ failure: `the bundler ended with ${code ?? signal}` }]),
  ])) as [BundleMessage];
  if (child.connected) child.disconnect();
  if ('bundle' in message) return message.bundle;
  if ('problems' in message) throw new BundleError(message.problems, message.watched);
  throw new SettingsError(`the workflows can't be bundled: ${message.failure}`);
}
