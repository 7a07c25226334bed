/**
 * Runs the workflows of several builds side by side, as versions of a Worker Deployment: the host of the worker of `longhaul up`, which
 * deploys itself. New operations go to the newest build; each older one is served for as long as operations that began on it are
 * open and don't replay with the newest. Every edit of a workflow makes a build, so their number is bounded.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  countOpenOn,
  describeDeployment,
  setCurrentCommand,
  setCurrentVersion,
  type DeploymentVersion,
} from '../platform/deployments.js';
import { SDK_VERSION } from './build-id.js';
import type { WorkflowBundle } from './bundle.js';
import type { KeptBundles, KeptBundle } from './kept-bundles.js';
import { Moves, type MovePlan } from './moves.js';
import { logUnversionedMismatches } from './replay-check.js';
import { otherWorkersOf } from './versioning.js';
import type { WorkerGroup } from './worker-group.js';
import type { Refusal, VersionedHostOptions, WorkflowHost } from './workflow-host.js';

/** Maximum number of builds whose operations stay open side by side. */
const MAX_BUILDS = 3;
/** Interval of looks at the open operations of older builds, in milliseconds. */
const LOOK_INTERVAL_MS = 3_000;
/** A build ends after this many looks in turn without open operations: lists of Temporal lag a little behind. */
const IDLE_LOOKS = 2;
/** Number of looks after which builds that aren't served are looked at too. */
const LOOKS_PER_SEARCH = 20;
/** Time after which a kept bundle without open operations is removed, in milliseconds: an hour. */
const KEEP_MS = 3600_000;
/** Limit of the time until Temporal sends new operations to a build, in milliseconds. */
const CURRENT_LIMIT_MS = 60_000;

export interface BuildsHostOptions extends VersionedHostOptions {
  kept: KeptBundles;
}

interface Served {
  bundle: KeptBundle;
  workers: WorkerGroup;
  /** Number of looks in turn without open operations. */
  idleLooks: number;
}

export class BuildsHost implements WorkflowHost {
  readonly #served = new Map<string, Served>();
  readonly #stopping = new AbortController();
  readonly #moves: Moves;
  /** Build that this worker has sent new operations to. */
  #current = '';
  /** Build that new operations go to, as Temporal said last: somebody else may have chosen another one. */
  #deployed: string | undefined;
  /** Builds whose open operations were reported as waiting. */
  readonly #reported = new Set<string>();
  /** Serializes changes. */
  #last: Promise<unknown> = Promise.resolve();
  #settle!: { resolve: () => void; reject: (error: unknown) => void };
  readonly done = new Promise<void>((resolve, reject) => (this.#settle = { resolve, reject }));

  constructor(private readonly options: BuildsHostOptions) {
    this.done.catch(() => undefined);
    this.#moves = new Moves(options.client, options.replays, options.deploymentName);
  }

  start(bundle: WorkflowBundle): Promise<Refusal[]> {
    return this.#next(async () => {
      await this.#serveNeededBuilds(bundle.buildId).catch((error: unknown) =>
        this.options.logger.warn({ err: error }, 'builds with open operations could not be looked for'),
      );
      const refusals = await this.#take(bundle);
      void this.#lookRegularly();
      return refusals;
    });
  }

  async checkFirst(bundle: WorkflowBundle): Promise<void> {
    await logUnversionedMismatches(this.options.replays, bundle, this.options.logger);
  }

  take(bundle: WorkflowBundle): Promise<Refusal[]> {
    return this.#next(() => this.#take(bundle));
  }

  async mayTake(): Promise<boolean> {
    const served = [...this.#served.values()];
    return served.length < MAX_BUILDS || served.some(({ idleLooks }) => idleLooks > 0);
  }

  get drainingCount(): number {
    return [...this.#served.values()].reduce((sum, { workers }) => sum + workers.drainingCount, 0);
  }

  stop(): void {
    this.#stopping.abort();
    for (const { workers } of this.#served.values()) workers.shutdown();
    const ended = [...this.#served.values()].map(({ workers }) => workers.ended);
    void Promise.allSettled(ended).then(() => this.#settle.resolve());
  }

  async #take(bundle: WorkflowBundle): Promise<Refusal[]> {
    const others = [...this.#served.values()].filter((one) => one.bundle.buildId !== bundle.buildId);
    const plans = new Map<KeptBundle, MovePlan>();
    for (const { bundle: other } of others) plans.set(other, await this.#moves.plan(other, bundle));
    if (!this.#served.has(bundle.buildId) && !(await this.#makeRoom(plans)))
      return [refusalOf(bundle, plans)];
    await this.#serve(bundle);
    await this.#makeCurrent(bundle);
    for (const [other, plan] of plans) await this.#moves.carryOut(plan, other, bundle);
    return [];
  }

  /**
   * Ends builds whose open operations all replay with the next one, until there is room for it. The current build runs until the
   * next one does, so for moments there is one more, if its operations don't stay.
   */
  async #makeRoom(plans: ReadonlyMap<KeptBundle, MovePlan>): Promise<boolean> {
    for (const [{ buildId }, plan] of plans) {
      const currentStays = [...plans].some(
        ([one, { staying }]) => one.buildId === this.#current && staying.size > 0,
      );
      if (this.#served.size < MAX_BUILDS + (currentStays ? 0 : 1)) return true;
      const { workers } = this.#served.get(buildId)!;
      if (buildId !== this.#current && plan.staying.size === 0 && workers.activityCount === 0)
        await this.#end(buildId);
    }
    // New operations need a build: without the current one, the next has to be served.
    return this.#served.size < MAX_BUILDS || !this.#served.has(this.#current);
  }

  async #serve(bundle: WorkflowBundle): Promise<void> {
    if (this.#served.has(bundle.buildId) || this.#stopping.signal.aborted) return;
    const kept = this.options.kept.keep(bundle);
    const workers = await this.options.createWorkers(kept);
    const served: Served = { bundle: kept, workers, idleLooks: 0 };
    this.#served.set(kept.buildId, served);
    const { buildId } = kept;
    this.options.logger.info({ buildId, builds: this.#served.size }, 'Workers of this build have started');
    workers.ended.catch((error: unknown) => this.#settle.reject(error));
    if (this.#stopping.signal.aborted) workers.shutdown();
  }

  async #makeCurrent({ buildId }: WorkflowBundle): Promise<void> {
    const { client, logger, deploymentName } = this.options;
    const version = this.#version(buildId);
    this.#current = buildId;
    try {
      const limit = AbortSignal.timeout(CURRENT_LIMIT_MS);
      const signal = AbortSignal.any([this.#stopping.signal, limit]);
      let reason = '';
      await setCurrentVersion(client(), version, { signal, onRetry: (why) => (reason = why) }).catch(
        (error: unknown) => {
          throw limit.aborted ? new Error(reason) : error;
        },
      );
      logger.info({ deployment: deploymentName, buildId }, 'new operations go to this build');
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      logger.error(
        { err: error, deployment: deploymentName, buildId },
        `new operations could not be sent to build ${buildId}; do it with: ${setCurrentCommand(client().options.namespace, version)}`,
      );
    }
  }

  async #lookRegularly(): Promise<void> {
    const { signal } = this.#stopping;
    for (let looks = 1; !signal.aborted; looks += 1) {
      await delay(LOOK_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      await this.#next(async () => {
        await this.#endDrained();
        if (looks % LOOKS_PER_SEARCH === 0) await this.#serveNeededBuilds(this.#current);
      }).catch((error: unknown) =>
        this.options.logger.debug({ err: error }, 'open operations of older builds could not be counted'),
      );
    }
  }

  /** Ends the Workers of builds that no open operation needs. */
  async #endDrained(): Promise<void> {
    for (const [buildId, served] of this.#served) {
      if (buildId === this.#current || buildId === this.#deployed) continue;
      const open = await countOpenOn(this.options.client(), this.#version(buildId));
      // An activity of an operation that was moved ends where it runs.
      served.idleLooks = open > 0 || served.workers.activityCount > 0 ? 0 : served.idleLooks + 1;
      if (served.idleLooks < IDLE_LOOKS) continue;
      await this.#end(buildId);
    }
  }

  async #end(buildId: string): Promise<void> {
    const { workers } = this.#served.get(buildId)!;
    workers.shutdown();
    await workers.ended;
    this.#served.delete(buildId);
    this.options.kept.touch(buildId);
    this.options.logger.info({ buildId, builds: this.#served.size }, 'Workers of this build have ended');
  }

  /** Serves kept builds that have open operations or that new ones go to, reports those that can't be served, and removes what nobody needs. */
  async #serveNeededBuilds(newest: string): Promise<void> {
    const { client, kept, deploymentName } = this.options;
    const deployment = await describeDeployment(client(), deploymentName);
    this.#deployed = deployment?.current;
    this.#current ||= this.#deployed ?? '';
    const known = [...new Set([...kept.list(), ...(deployment?.versions ?? []).map((one) => one.buildId)])];
    for (const buildId of known) {
      if (buildId === newest || this.#served.has(buildId)) continue;
      const open = await countOpenOn(client(), this.#version(buildId));
      const bundle = kept.find(buildId);
      const isNeeded = open > 0 || buildId === this.#deployed;
      if (!isNeeded) {
        if (bundle && Date.now() - kept.usedAtMs(buildId) > KEEP_MS) kept.remove(buildId);
      } else if (bundle?.sdkVersion === SDK_VERSION && this.#served.size < MAX_BUILDS) {
        await this.#serve(bundle);
      } else await this.#report(buildId, open, bundle);
    }
  }

  /** Says once what operations of a build wait for. */
  async #report(buildId: string, open: number, bundle: KeptBundle | undefined): Promise<void> {
    // It may be needed for new operations alone, which this worker is about to send to its own build.
    if (open === 0 || this.#reported.has(buildId)) return;
    if (await this.#isServedElsewhere(buildId)) return;
    this.#reported.add(buildId);
    const waiting = `${open} open workflow${open === 1 ? '' : 's'} of operations wait for a worker of build ${buildId}`;
    this.options.logger.error({ buildId, open }, `${waiting}: ${this.#whyNot(buildId, bundle)}`);
  }

  #whyNot(buildId: string, bundle: KeptBundle | undefined): string {
    if (!bundle)
      return (
        'its workflows are not in the cache of this home. Run a worker with the release and the workflows of that build, or end the ' +
        'operations: longhaul cancel'
      );
    if (bundle.sdkVersion !== SDK_VERSION)
      return (
        `it was made with version ${bundle.sdkVersion} of Temporal's SDK, and this is ${SDK_VERSION}. Run the release that it is of, ` +
        `with the same workflows: ${this.options.kept.commandFor(bundle)}`
      );
    return `${MAX_BUILDS} other builds are served. It follows once the operations of one of them have ended`;
  }

  async #isServedElsewhere(buildId: string): Promise<boolean> {
    const { client, taskQueue, identity } = this.options;
    return (await otherWorkersOf(client(), { taskQueue, identity, buildId })) > 0;
  }

  #version(buildId: string): DeploymentVersion {
    return { deploymentName: this.options.deploymentName, buildId };
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work);
    this.#last = next.catch(() => undefined);
    return next;
  }
}

function refusalOf(bundle: WorkflowBundle, plans: ReadonlyMap<KeptBundle, MovePlan>): Refusal {
  const builds = [...plans].flatMap(([{ buildId }, { staying }]) => {
    const open = [...staying].map(([type, count]) => `${count} of "${type}"`).join(', ');
    return open ? [`build ${buildId} (open: ${open})`] : [];
  });
  const message =
    `the changed workflows are not run yet: ${MAX_BUILDS} builds run side by side already, with open operations that don't replay with ` +
    `the changed code: ${builds.join('; ')}. All workflows run as they were before until the operations of one of these builds have ended ` +
    `(longhaul list, longhaul cancel) or the code replays them (patched())`;
  return { about: { buildId: bundle.buildId }, message };
}
