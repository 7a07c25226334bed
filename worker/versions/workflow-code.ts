/**
 * The workflow bundle that a worker runs, made again after edits. The previous code keeps running while a bundle is broken, and
 * while open operations make the host refuse parts of it.
 */
import { relative } from 'node:path';
import PQueue from 'p-queue';
import type { Settings } from '../../platform/settings/index.js';
import type { Logger } from '../../platform/observe/log.js';
import { filesOf, isProjectFile } from '../../platform/project/index.js';
import { formatProjectProblem, type ProjectProblem } from '../../platform/project/problems.js';
import { BundleError, upToDateBundle, type WorkflowBundle, bundleInChildProcess } from './bundle.js';

/** Why a bundle, or a workflow in it, doesn't run yet. */
export interface Refusal {
  /** Fields of the log line. */
  about: object;
  /** Reason that the code does not run, and what to do. */
  message: string;
}

export interface WorkflowHost {
  /** Runs the worker's first bundle. @returns the parts that don't run */
  start(bundle: WorkflowBundle): Promise<Refusal[]>;
  /** Runs a bundle made after edits. @returns the parts that don't run; their previous code keeps running */
  take(bundle: WorkflowBundle): Promise<Refusal[]>;
  /** Whether refused parts may run by now. */
  mayTake(): Promise<boolean>;
  /** Number of activities that a drain waits for. */
  readonly drainingCount: number;
  /** Resolves once stopped; rejects if a Worker fails. */
  readonly done: Promise<void>;
  stop(): void;
}

export class WorkflowCode {
  /** Parts of the current bundle that the host doesn't run. */
  #refusals: Refusal[] = [];
  #error: BundleError | undefined;
  readonly #changes = new PQueue({ concurrency: 1 });

  constructor(
    private readonly settings: Settings,
    private readonly logger: Logger,
    readonly host: WorkflowHost,
    private current: WorkflowBundle,
  ) {}

  start(): Promise<void> {
    return this.#changes.add(async () => this.#note(await this.host.start(this.current)));
  }

  exports(): string[] {
    return Object.keys(this.current.exports);
  }

  /** File of a workflow, as people know it, and the digest of its code. */
  codeOf(workflow: string): { file: string | undefined; code: string } {
    const { paths, exports } = this.current;
    const path = paths[workflow];
    return { file: path && relative(this.settings.project, path), code: exports[workflow] ?? '' };
  }

  fileProblems(): ProjectProblem[] {
    return (this.#error ?? this.current).problems;
  }

  /** Why the running code differs from the files, one line each. */
  problems(): string[] {
    return [
      ...this.fileProblems().map(formatProjectProblem),
      ...this.#refusals.map(({ message }) => message),
    ];
  }

  watched(): string[] {
    const made = Object.keys(this.current.ingredients);
    const all = [...filesOf('workflows', this.settings), ...made, ...(this.#error?.watched ?? [])];
    return [...new Set(all.filter(isProjectFile))];
  }

  reload(): Promise<void> {
    return this.#changes.add(async () => {
      if (!this.#error && isSame(upToDateBundle(this.settings), this.current)) return;
      try {
        const bundle = await bundleInChildProcess(this.settings);
        this.#error = undefined;
        await this.#take(bundle);
      } catch (error) {
        if (!(error instanceof BundleError)) throw error;
        const known = this.#error?.message;
        this.#error = error;
        if (error.message === known) return;
        for (const problem of error.problems)
          this.logger.error({}, `${formatProjectProblem(problem)}; all workflows run as they were before`);
      }
    });
  }

  /** Runs what the host refused before, once the host takes it. */
  retry(): Promise<void> {
    return this.#changes.add(async () => {
      if (this.#refusals.length === 0 || !isSame(upToDateBundle(this.settings), this.current)) return;
      if (await this.host.mayTake()) await this.#take(this.current);
    });
  }

  async #take(bundle: WorkflowBundle): Promise<void> {
    this.#note(await this.host.take(bundle));
    this.current = bundle;
  }

  #note(refusals: Refusal[]): void {
    const known = new Set(this.#refusals.map(({ message }) => message));
    this.#refusals = refusals;
    for (const { about, message } of refusals) if (!known.has(message)) this.logger.error(about, message);
  }
}

function isSame(one: WorkflowBundle | undefined, other: WorkflowBundle): boolean {
  return (
    one?.codePath === other.codePath && JSON.stringify(one.ingredients) === JSON.stringify(other.ingredients)
  );
}
