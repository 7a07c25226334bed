/** Troubles of the cluster: a part that is killed and started again, and a release that is rolled out. */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { waitUntilGone } from '../../platform/home/process-identity.js';
import { isRunning, kill } from '../stack/cli-process.js';
import { STACK_MS } from '../support/limits.js';
import { type Cluster, PROJECT } from './cluster/index.js';

/** Kills a part with -9, and starts it again, unless it is started again by itself. */
export async function killPart(cluster: Cluster, name: string): Promise<void> {
  const part = cluster.processes[name]!;
  const victim = part.pid()!;
  kill(victim);
  await waitUntilGone(() => isRunning(victim), STACK_MS);
  await part.restart?.();
}

/**
 * Rolls a release with other workflows out: workers beside the old ones, then its build is current, then one server after the
 * other.
 *
 * @param project folder for the release @param onWorkersRun called before its build is current
 */
export async function rollOut(
  cluster: Cluster,
  project: string,
  onWorkersRun: () => void = () => undefined,
): Promise<void> {
  cpSync(PROJECT, project, { recursive: true });
  symlinkSync(resolve('node_modules'), join(project, 'node_modules'));
  const workflow = join(project, 'workflows/batches.ts');
  const code = readFileSync(workflow, 'utf8');
  writeFileSync(workflow, code.replace('`batch ${batch}`', '`batch no. ${batch}`'));
  await Promise.all([cluster.worker('worker-3', project), cluster.worker('worker-4', project)]);
  onWorkersRun();
  await cluster.deploy();
  for (const name of ['server-1', 'server-2']) {
    await cluster.nodes[name]!.service.stop();
    await cluster.server(name, project);
  }
}
