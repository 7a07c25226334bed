/**
 * Runs workflows without versions. The Worker that runs them can be replaced by one with another bundle while the process runs: the
 * new one polls before the old one stops, and operations are replayed there. So a bundle with which open operations would not
 * replay is refused until they have ended.
 */
import { existsSync, readFileSync } from 'node:fs';
import { writeFileAtomically } from '../platform/atomic-files.js';
import type { Settings } from '../platform/settings/index.js';
import type { Logger } from '../platform/log.js';
import { projectCacheFile } from '../platform/project.js';
import type { WorkflowBundle } from './bundle.js';
import { differences } from './bundle-differences.js';
import type { ReplayCheck, ReplayFailure } from './replay-check.js';
import type { WorkerGroup } from './worker-group.js';
import type { Refusal, WorkflowHost } from './workflow-host.js';

export interface UnversionedHostOptions {
  settings: Settings;
  logger: Logger;
  replays: ReplayCheck;
  createWorkers: (bundle: WorkflowBundle) => Promise<WorkerGroup>;
}

export class UnversionedHost implements WorkflowHost {
  #current: WorkerGroup | undefined;
  #isStopping = false;
  #failures: ReplayFailure[] = [];
  #settle!: { resolve: () => void; reject: (error: unknown) => void };
  readonly done = new Promise<void>((resolve, reject) => (this.#settle = { resolve, reject }));

  constructor(private readonly options: UnversionedHostOptions) {
    this.done.catch(() => undefined);
  }

  async start(bundle: WorkflowBundle): Promise<Refusal[]> {
    await this.#run(bundle);
    return [];
  }

  async checkFirst(bundle: WorkflowBundle): Promise<void> {
    const { settings, logger, replays } = this.options;
    const path = servedPath(settings);
    const served = existsSync(path)
      ? (JSON.parse(readFileSync(path, 'utf8')) as WorkflowBundle['exports'])
      : {};
    for (const failure of await replays.find(bundle.codePath, differences(served, bundle.exports)))
      logger.error(about(failure), `${describe(failure)}. It waits until the code replays it (patched())`);
    writeFileAtomically(path, JSON.stringify(bundle.exports));
  }

  async take(bundle: WorkflowBundle, previous: WorkflowBundle): Promise<Refusal[]> {
    const { settings, replays } = this.options;
    this.#failures = await replays.find(bundle.codePath, differences(previous.exports, bundle.exports));
    if (this.#failures.length > 0) return this.#failures.map(refusalOf);
    await this.#run(bundle);
    writeFileAtomically(servedPath(settings), JSON.stringify(bundle.exports));
    return [];
  }

  async mayTake(): Promise<boolean> {
    return !(await this.options.replays.areOpen(this.#failures));
  }

  /** Activities have Workers of their own. */
  readonly drainingCount = 0;

  stop(): void {
    this.#isStopping = true;
    if (this.#current) this.#current.shutdown();
    else this.#settle.resolve();
  }

  /** Resolves once the previous Worker, if any, has stopped. @throws when the Worker can't be created */
  async #run(bundle: WorkflowBundle): Promise<void> {
    const workers = await this.options.createWorkers(bundle);
    const before = this.#current;
    this.#current = workers;
    workers.ended.then(
      () => this.#current === workers && this.#settle.resolve(),
      (error: unknown) => this.#current === workers && this.#settle.reject(error),
    );
    if (this.#isStopping) workers.shutdown();
    before?.shutdown();
    await before?.ended.catch(() => undefined);
  }
}

/** File with the exports of the last worker's bundle: name -> digest of its code. */
function servedPath(settings: Settings): string {
  return projectCacheFile(settings, 'served');
}

function refusalOf(failure: ReplayFailure): Refusal {
  const message =
    `${describe(failure)}. All workflows run as they were before until that operation has ended ` +
    `(longhaul cancel ${failure.workflowId}) or the code replays it (patched())`;
  return { about: about(failure), message };
}

function about({ type, workflowId }: ReplayFailure): object {
  return { tool: type, token: workflowId };
}

function describe({ type, workflowId, message }: ReplayFailure): string {
  return `workflow "${type}": its changed code doesn't replay the open operation ${workflowId}: ${message}`;
}
