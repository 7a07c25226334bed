/**
 * The bundle of workflows that a worker runs, made again after edits. A bundle that is broken, or with which open operations
 * would not replay, is refused: the previous one keeps running until the files are fixed or those operations have ended.
 */
import { existsSync, readFileSync } from 'node:fs';
import type { Settings } from '../platform/config.js';
import type { Logger } from '../platform/log.js';
import { filesOf, isProjectFile } from '../platform/project.js';
import { formatProjectProblem, type ProjectProblem } from '../platform/project-problems.js';
import { projectCacheFile } from '../platform/project.js';
import { writeFileAtomically } from '../platform/atomic-files.js';
import { BundleError, upToDateBundle, type WorkflowBundle } from './bundle.js';
import { bundleInChildProcess } from './bundle-process.js';
import type { ReplayFailure, ReplayCheck } from './replay-check.js';

export interface WorkflowCodeOptions {
  settings: Settings;
  logger: Logger;
  /** Runs a bundle in place of the previous one. */
  run: (codePath: string) => Promise<void>;
  replays: ReplayCheck;
}

type Exports = WorkflowBundle['exports'];

export class WorkflowCode {
  /** The bundle that open operations don't replay with. */
  #refused: { bundle: WorkflowBundle; failures: ReplayFailure[] } | undefined;
  #error: BundleError | undefined;
  /** Serializes changes. */
  #last: Promise<void> = Promise.resolve();

  /** @param current the bundle that the worker started with */
  constructor(
    private readonly parts: WorkflowCodeOptions,
    private current: WorkflowBundle,
  ) {}

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
      ...(this.#refused?.failures.map(describeRefusal) ?? []),
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

  /** Logs open operations that the worker's first bundle doesn't replay, if it differs from the previous worker's. */
  checkFirst(): Promise<void> {
    return this.#next(async () => {
      const { settings, logger, replays } = this.parts;
      const path = servedPath(settings);
      const served = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Exports) : {};
      for (const failure of await replays.find(
        this.current.codePath,
        differences(served, this.current.exports),
      ))
        logger.error(about(failure), `${describe(failure)}. It waits until the code replays it (patched())`);
      writeFileAtomically(path, JSON.stringify(this.current.exports));
    });
  }

  /** Makes the bundle again and runs it, unless it is broken or open operations would not replay. */
  reload(): Promise<void> {
    return this.#next(async () => {
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

  /** Runs the refused bundle once the operations that it doesn't replay have ended. */
  retry(): Promise<void> {
    return this.#next(async () => {
      const refused = this.#refused;
      if (refused && !(await this.parts.replays.areOpen(refused.failures)))
        await this.#runUnlessRefused(refused.bundle);
    });
  }

  async #runUnlessRefused(bundle: WorkflowBundle): Promise<void> {
    const { settings, logger, run, replays } = this.parts;
    const { changed, missing, added } = differences(this.current.exports, bundle.exports);
    const failures = await replays.find(bundle.codePath, { changed, missing });
    const known = new Set(this.#refused?.failures.map(describe));
    this.#refused = failures.length > 0 ? { bundle, failures } : undefined;
    for (const failure of failures.filter((one) => !known.has(describe(one))))
      logger.error(about(failure), describeRefusal(failure));
    if (failures.length > 0) return;
    if (changed.length + missing.length + added.length > 0) {
      await run(bundle.codePath);
      writeFileAtomically(servedPath(settings), JSON.stringify(bundle.exports));
      logger.info({ changed, added, removed: missing }, 'workflows are loaded again');
    }
    this.current = bundle;
  }

  #next(work: () => Promise<void>): Promise<void> {
    const next = this.#last.then(work);
    this.#last = next.catch(() => undefined);
    return next;
  }
}

/** File with the exports of the last worker's bundle: name -> digest of its code. */
function servedPath(settings: Settings): string {
  return projectCacheFile(settings, 'served');
}

function isSame(one: WorkflowBundle | undefined, other: WorkflowBundle): boolean {
  return (
    one?.codePath === other.codePath && JSON.stringify(one.ingredients) === JSON.stringify(other.ingredients)
  );
}

function differences(before: Exports, after: Exports) {
  const names = Object.keys(before);
  return {
    changed: names.filter((name) => name in after && after[name] !== before[name]),
    missing: names.filter((name) => !(name in after)),
    added: Object.keys(after).filter((name) => !(name in before)),
  };
}

function about({ type, workflowId }: ReplayFailure): object {
  return { tool: type, token: workflowId };
}

function describe({ type, workflowId, message }: ReplayFailure): string {
  return `workflow "${type}": its changed code doesn't replay the open operation ${workflowId}: ${message}`;
}

function describeRefusal(failure: ReplayFailure): string {
  return (
    `${describe(failure)}. All workflows run as they were before until that operation has ended ` +
    `(longhaul cancel ${failure.workflowId}) or the code replays it (patched())`
  );
}
