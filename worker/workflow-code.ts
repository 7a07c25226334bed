/**
 * The bundle of workflows that a worker runs, made again after edits. A broken one, and one with which open operations would
 * not replay, is not taken up: the one before runs on until the files are corrected or those operations have ended.
 */
import { existsSync, readFileSync } from 'node:fs';
import type { Settings } from '../platform/config.js';
import type { Logger } from '../platform/log.js';
import { filesOf, isProjectFile } from '../platform/project.js';
import { formatProjectProblem, type ProjectProblem } from '../platform/project-problems.js';
import { projectCacheFile } from '../platform/project.js';
import { writeFileAtomically } from '../platform/atomic-files.js';
import { BundleError, upToDateBundle, type WorkflowBundle } from './bundle.js';
import { bundleApart } from './bundle-process.js';
import type { Misfit, ReplayCheck } from './replay-check.js';

export interface WorkflowCodeParts {
  settings: Settings;
  logger: Logger;
  /** Runs a bundle in place of the one before. */
  run: (codePath: string) => Promise<void>;
  replays: ReplayCheck;
}

type Exports = WorkflowBundle['exports'];

export class WorkflowCode {
  /** The bundle that open operations keep from being taken up. */
  #refused: { bundle: WorkflowBundle; misfits: Misfit[] } | undefined;
  #error: BundleError | undefined;
  /** One change at a time. */
  #last: Promise<void> = Promise.resolve();

  /** @param current the bundle that the worker has begun with */
  constructor(
    private readonly parts: WorkflowCodeParts,
    private current: WorkflowBundle,
  ) {}

  /** Names that the running bundle, or one that waits for open operations, exports. */
  exports(): string[] {
    return Object.keys({ ...this.current.exports, ...this.#refused?.bundle.exports });
  }

  /** What is wrong with files. */
  fileProblems(): ProjectProblem[] {
    return (this.#error ?? this.current).problems;
  }

  /** Why what runs isn't what the files say, a line each. */
  problems(): string[] {
    return [
      ...this.fileProblems().map(formatProjectProblem),
      ...(this.#refused?.misfits.map(describeRefusal) ?? []),
    ];
  }

  /** Paths whose changes call for another bundle. */
  watched(): string[] {
    const made = [this.current, this.#refused?.bundle].flatMap((bundle) =>
      Object.keys(bundle?.ingredients ?? {}),
    );
    const all = [...filesOf('workflows', this.parts.settings), ...made, ...(this.#error?.watched ?? [])];
    return [...new Set(all.filter(isProjectFile))];
  }

  /** Says which open operations the worker's first bundle doesn't replay, if it isn't the one that ran before. */
  checkFirst(): Promise<void> {
    return this.#next(async () => {
      const { settings, logger, replays } = this.parts;
      const path = servedPath(settings);
      const served = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Exports) : {};
      for (const misfit of await replays.find(
        this.current.codePath,
        differences(served, this.current.exports),
      ))
        logger.error(about(misfit), `${describe(misfit)}. It waits until the code replays it (patched())`);
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
        const bundle = await bundleApart(settings);
        this.#error = undefined;
        await this.#take(bundle);
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

  /** Takes up what was refused once the operations that it doesn't replay have ended. */
  retry(): Promise<void> {
    return this.#next(async () => {
      const refused = this.#refused;
      if (refused && !(await this.parts.replays.areOpen(refused.misfits))) await this.#take(refused.bundle);
    });
  }

  async #take(bundle: WorkflowBundle): Promise<void> {
    const { settings, logger, run, replays } = this.parts;
    const { changed, missing, added } = differences(this.current.exports, bundle.exports);
    const misfits = await replays.find(bundle.codePath, { changed, missing });
    const known = new Set(this.#refused?.misfits.map(describe));
    this.#refused = misfits.length > 0 ? { bundle, misfits } : undefined;
    for (const misfit of misfits.filter((one) => !known.has(describe(one))))
      logger.error(about(misfit), describeRefusal(misfit));
    if (misfits.length > 0) return;
    if (changed.length + missing.length + added.length > 0) {
      await run(bundle.codePath);
      writeFileAtomically(servedPath(settings), JSON.stringify(bundle.exports));
      logger.info({ changed, added, removed: missing }, 'workflows are taken up');
    }
    this.current = bundle;
  }

  #next(work: () => Promise<void>): Promise<void> {
    const next = this.#last.then(work);
    this.#last = next.catch(() => undefined);
    return next;
  }
}

/** Where it is kept which workflows the last worker ran: name -> digest of the code behind it. */
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

function about({ type, workflowId }: Misfit): object {
  return { tool: type, token: workflowId };
}

function describe({ type, workflowId, message }: Misfit): string {
  return `workflow "${type}": its changed code doesn't replay the open operation ${workflowId}: ${message}`;
}

function describeRefusal(misfit: Misfit): string {
  return (
    `${describe(misfit)}. All workflows run as they were before until that operation has ended ` +
    `(longhaul cancel ${misfit.workflowId}) or the code replays it (patched())`
  );
}
