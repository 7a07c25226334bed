/**
 * The bundle of workflows that a worker runs, made again after edits. A bundle that is broken, or that its host refuses because of
 * open operations, waits: the previous one keeps running until the files are fixed or those operations have ended.
 */
import PQueue from 'p-queue';
import type { Settings } from '../platform/config.js';
import type { Logger } from '../platform/log.js';
import { filesOf, isProjectFile } from '../platform/project.js';
import { formatProjectProblem, type ProjectProblem } from '../platform/project-problems.js';
import { BundleError, upToDateBundle, type WorkflowBundle } from './bundle.js';
import { bundleInChildProcess } from './bundle-in-child.js';
import { differences } from './bundle-differences.js';
import type { Refusal, WorkflowHost } from './workflow-host.js';

export interface WorkflowCodeOptions {
  settings: Settings;
  logger: Logger;
  host: WorkflowHost;
}

export class WorkflowCode {
  /** The bundle that its host doesn't run yet. */
  #refused: { bundle: WorkflowBundle; refusals: Refusal[] } | undefined;
  /** Build ID of the bundle that the host runs; undefined if it runs one of before the worker's start. */
  #running: string | undefined;
  #error: BundleError | undefined;
  /** Serializes changes. */
  readonly #changes = new PQueue({ concurrency: 1 });

  /** @param current the bundle that the worker starts with */
  constructor(
    private readonly parts: WorkflowCodeOptions,
    private current: WorkflowBundle,
  ) {}

  get host(): WorkflowHost {
    return this.parts.host;
  }

  /** Has the host run the first bundle. */
  start(): Promise<void> {
    return this.#changes.add(async () => {
      this.#refuse(this.current, await this.parts.host.start(this.current));
      if (!this.#refused) this.#running = this.current.buildId;
    });
  }

  /** Names that the running bundle, or one that waits for open operations, exports. */
  exports(): string[] {
    return Object.keys({ ...this.current.exports, ...this.#refused?.bundle.exports });
  }

  /** Problems of files. */
  fileProblems(): ProjectProblem[] {
    return (this.#error ?? this.current).problems;
  }

  /** Reasons why the running code differs from the files, one line each. */
  problems(): string[] {
    return [
      ...this.fileProblems().map(formatProjectProblem),
      ...(this.#refused?.refusals.map(({ message }) => message) ?? []),
    ];
  }

  /** Paths whose changes require another bundle. */
  watched(): string[] {
    const made = [this.current, this.#refused?.bundle].flatMap((bundle) =>
      Object.keys(bundle?.ingredients ?? {}),
    );
    const all = [...filesOf('workflows', this.parts.settings), ...made, ...(this.#error?.watched ?? [])];
    return [...new Set(all.filter(isProjectFile))];
  }

  /** Checks open operations against the worker's first bundle. */
  checkFirst(): Promise<void> {
    return this.#changes.add(() => this.parts.host.checkFirst(this.current));
  }

  /** Makes the bundle again and runs it, unless it is broken or its host refuses it. */
  reload(): Promise<void> {
    return this.#changes.add(async () => {
      const { settings, logger } = this.parts;
      const running = this.#refused?.bundle ?? this.current;
      if (!this.#error && isSame(upToDateBundle(settings), running)) return;
      try {
        const bundle = await bundleInChildProcess(settings);
        this.#error = undefined;
        await this.#runUnlessRefused(bundle);
      } catch (error) {
        if (!(error instanceof BundleError)) throw error;
        const known = this.#error?.message;
        this.#error = error;
        this.#refused = undefined;
        if (error.message === known) return;
        for (const problem of error.problems)
          logger.error({}, `${formatProjectProblem(problem)}; all workflows run as they were before`);
      }
    });
  }

  /** Runs the refused bundle once its host takes it. */
  retry(): Promise<void> {
    return this.#changes.add(async () => {
      if (this.#refused && (await this.parts.host.mayTake()))
        await this.#runUnlessRefused(this.#refused.bundle);
    });
  }

  async #runUnlessRefused(bundle: WorkflowBundle): Promise<void> {
    if (bundle.buildId === this.#running) {
      // The files are again as they were.
      this.#refused = undefined;
      this.current = bundle;
      return;
    }
    this.#refuse(bundle, await this.parts.host.take(bundle, this.current));
    if (this.#refused) return;
    const { changed, missing, added } = differences(this.current.exports, bundle.exports);
    this.parts.logger.info({ changed, added, removed: missing }, 'workflows are loaded again');
    this.current = bundle;
    this.#running = bundle.buildId;
  }

  /** Notes why a bundle isn't run, and logs what wasn't known. */
  #refuse(bundle: WorkflowBundle, refusals: Refusal[]): void {
    const known = new Set(this.#refused?.refusals.map(({ message }) => message));
    this.#refused = refusals.length > 0 ? { bundle, refusals } : undefined;
    for (const { about, message } of refusals)
      if (!known.has(message)) this.parts.logger.error(about, message);
  }
}

function isSame(one: WorkflowBundle | undefined, other: WorkflowBundle): boolean {
  return (
    one?.codePath === other.codePath && JSON.stringify(one.ingredients) === JSON.stringify(other.ingredients)
  );
}
