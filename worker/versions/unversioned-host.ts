/**
 * Runs workflows without versions: open operations follow the newest code. After an edit, a Worker with the new bundle starts
 * polling before the old one stops, and replays the operations. If a workflow's new code doesn't replay its open operations,
 * its file keeps the old code until they have ended.
 */
import type { Logger } from '../../platform/observe/log.js';
import { quote } from '../../platform/temporal/visibility-query.js';
import type { WorkflowBundle } from './bundle.js';
import type { CodeVersions, KeptCode } from './kept-code.js';
import type { ReplayCheck, ReplayFailure } from '../replay/replay-check.js';
import type { WorkerGroup } from '../process/workers.js';
import type { Refusal, WorkflowHost } from './workflow-code.js';

export interface UnversionedHostOptions {
  logger: Logger;
  replays: ReplayCheck;
  kept: KeptCode;
  /** Bundles the workflows with copies of kept code for some: exported name -> path of the copy. @throws BundleError */
  bundleWithKept: (kept: Record<string, string>) => Promise<WorkflowBundle>;
  createWorkers: (bundle: WorkflowBundle) => Promise<WorkerGroup>;
}

export class UnversionedHost implements WorkflowHost {
  #workers: WorkerGroup | undefined;
  #running: CodeVersions | undefined;
  #isStopping = false;
  /** Name of a refused workflow -> tokens of the operations that must end first. */
  #awaited = new Map<string, string[]>();
  #settle!: { resolve: () => void; reject: (error: unknown) => void };
  readonly done = new Promise<void>((resolve, reject) => (this.#settle = { resolve, reject }));

  constructor(private readonly options: UnversionedHostOptions) {
    this.done.catch(() => undefined);
  }

  async start(bundle: WorkflowBundle): Promise<Refusal[]> {
    const { logger, kept } = this.options;
    try {
      return await this.#runUnlessRefused(bundle, kept.read() ?? bundle);
    } catch (error) {
      if (this.#workers) throw error;
      logger.warn({ err: error }, 'whether open operations replay could not be checked');
      await this.#run(bundle, bundle);
      return [];
    }
  }

  async take(bundle: WorkflowBundle): Promise<Refusal[]> {
    return this.#runUnlessRefused(bundle, this.#running!);
  }

  async mayTake(): Promise<boolean> {
    for (const tokens of this.#awaited.values())
      if (!(await this.options.replays.areOpen(tokens))) return true;
    return false;
  }

  /** Activities have their own Workers. */
  readonly drainingCount = 0;

  stop(): void {
    this.#isStopping = true;
    if (this.#workers) this.#workers.shutdown();
    else this.#settle.resolve();
  }

  /** @param before code that the open operations have run with */
  async #runUnlessRefused(bundle: WorkflowBundle, before: CodeVersions): Promise<Refusal[]> {
    const { replays, kept, logger } = this.options;
    const isFirst = this.#workers === undefined;
    const { changed, missing } = differences(before, bundle);
    const failures = await replays.find(bundle.codePath, { changed, missing });
    let keptNames = await this.#runExcept(bundle, before, failures);
    if (!isFirst) {
      // Operations that began meanwhile ran with the old code.
      const failed = [...keptNames, ...failures.map(({ type }) => type)];
      const accepted = changed.filter((name) => !failed.includes(name));
      const late = await replays.find(bundle.codePath, { changed: accepted, missing: [] });
      failures.push(...late);
      if (late.length > 0) keptNames = await this.#runExcept(bundle, before, failures);
    }
    try {
      kept.keep(this.#running!, bundle);
    } catch (error) {
      logger.warn({ err: error }, 'the code of workflows could not be kept in the cache of the home');
    }
    this.#awaited = new Map();
    return [...new Set(failures.map(({ type }) => type))].map((type) => {
      const ofType = failures.filter((failure) => failure.type === type);
      const tokens = [...new Set(ofType.map(({ token }) => token))];
      this.#awaited.set(type, tokens);
      return refusalOf(ofType[0]!, tokens, keptNames);
    });
  }

  /** Runs a bundle, with the old code for files whose workflows failed. @returns names of workflows that run old code */
  async #runExcept(
    bundle: WorkflowBundle,
    before: CodeVersions,
    failures: readonly ReplayFailure[],
  ): Promise<string[]> {
    const { replays, kept, bundleWithKept } = this.options;
    // All exports of a file, because a workflow starts its children by name.
    const failed = failures.map(({ type }) => before.paths[type]);
    const names = Object.keys(before.paths).filter((name) => failed.includes(before.paths[name]));
    const copies = kept.find(before, names);
    const combined = async () => (Object.keys(copies).length > 0 ? bundleWithKept(copies) : bundle);
    let next = await combined();
    if (before.runtimeDigest !== bundle.runtimeDigest) {
      // A new release of Longhaul or of a package may keep even the old code from replaying.
      const stuck = await replays.find(next.codePath, { changed: Object.keys(copies), missing: [] });
      const stuckCopies = stuck.map(({ type }) => copies[type]);
      for (const name of names) if (stuckCopies.includes(copies[name])) delete copies[name];
      if (stuck.length > 0) next = await combined();
    }
    const versions = {
      exports: { ...bundle.exports },
      paths: { ...bundle.paths },
      runtimeDigest: bundle.runtimeDigest,
    };
    for (const name of Object.keys(copies)) {
      versions.exports[name] = before.exports[name]!;
      versions.paths[name] = before.paths[name]!;
    }
    await this.#run(next, versions);
    return Object.keys(copies);
  }

  /** Runs a bundle unless its code runs already. Resolves once the previous Worker has stopped. @throws when the Worker can't be created */
  async #run(bundle: WorkflowBundle, versions: CodeVersions): Promise<void> {
    const { changed, missing, added } = differences(this.#running ?? versions, versions);
    const previous = this.#workers;
    if (previous && [...changed, ...missing, ...added].length === 0) return;
    const workers = await this.options.createWorkers(bundle);
    this.#workers = workers;
    this.#running = versions;
    workers.ended.then(
      () => this.#workers === workers && this.#settle.resolve(),
      (error: unknown) => this.#workers === workers && this.#settle.reject(error),
    );
    if (this.#isStopping) workers.shutdown();
    if (!previous) return;
    previous.shutdown();
    await previous.ended.catch(() => undefined);
    this.options.logger.info({ changed, added, removed: missing }, 'workflows are loaded again');
  }
}

/** @param keptNames workflows that run with the old code */
function refusalOf({ type, message }: ReplayFailure, tokens: string[], keptNames: string[]): Refusal {
  const operations = `the open operation${tokens.length === 1 ? '' : 's'} ${tokens.join(', ')}`;
  const ending = keptNames.includes(type)
    ? `It runs as it was before until they have ended (longhaul cancel ${tokens.join(' ')}) or the code replays them (patched()); ` +
      'the change is then loaded by itself'
    : 'They wait until the code replays them (patched(), or the code from before) or they are ended: temporal workflow terminate ' +
      `--yes --reason "changed code" --query "WorkflowId IN (${tokens.map(quote).join(', ')})"`;
  return {
    about: { tool: type, tokens },
    message: `workflow "${type}": its changed code doesn't replay ${operations}: ${message}. ${ending}`,
  };
}

/** Compares the exports of two bundles. A change in Longhaul or a package changes every export. */
function differences(before: CodeVersions, after: CodeVersions) {
  const names = Object.keys(before.exports);
  const isOtherRuntime = before.runtimeDigest !== after.runtimeDigest;
  return {
    changed: names.filter(
      (name) => name in after.exports && (isOtherRuntime || after.exports[name] !== before.exports[name]),
    ),
    missing: names.filter((name) => !(name in after.exports)),
    added: Object.keys(after.exports).filter((name) => !(name in before.exports)),
  };
}
