/**
 * Operations of mixed kinds on a server of the tasks extension while its processes are killed and stopped, its links fail, its
 * clocks jump and its disk fills. None may be lost or doubled, no poll may show less than an earlier one, and every outcome has to
 * be that of a calm run.
 */
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Fleet } from './fleet.js';
import { ChaosHost } from './host.js';
import { Injector, type FaultFigures } from './injector.js';
import { Ledger } from './ledger.js';
import { leftFiles, leftProcesses } from './leftovers.js';
import type { Context } from './operations.js';
import { scheduleOf, type ScheduleOptions } from './schedule.js';
import { Services } from './services.js';
import type { Running, Target } from './target.js';
import { Violations, type Violation } from './violations.js';

/** Limit of the calm run, in milliseconds. */
const CALM_MS = 120_000;
const STOP_LIMIT_MS = 60_000;

export interface ChaosOptions extends ScheduleOptions {
  target: Target;
  /** How long operations may take after the last fault, in milliseconds. Default: 3 minutes */
  settleMs?: number;
  /** Limit of the whole run, in milliseconds. Default: 3 hours */
  limitMs?: number;
  /** Receives a line for each event. Default: none */
  say?: (line: string) => void;
  /** Aborted to end the run early. */
  signal?: AbortSignal;
}

export interface ChaosReport {
  target: string;
  seed: number;
  seconds: number;
  operations: number;
  polls: number;
  /** Starts that were sent again because no response had come. */
  repeatedStarts: number;
  faults: Record<string, FaultFigures>;
  /** Pauses between parts of the tools whose parts run once, without the time of faults, in milliseconds. */
  gapsMs: number[];
  violations: Violation[];
}

/** Runs on folders and ports of its own. Faults of the disk need root, for a file system in memory. */
export async function chaos(options: ChaosOptions): Promise<ChaosReport> {
  const run = new ChaosRun(options);
  return run.report();
}

class ChaosRun {
  readonly #say: (line: string) => void;
  readonly #signal: AbortSignal;
  readonly #violations: Violations;
  readonly #settleMs: number;
  #fleet: Fleet | undefined;
  #injector: Injector | undefined;
  #gapsMs: number[] = [];

  constructor(private readonly options: ChaosOptions) {
    const { say = () => undefined, limitMs = 3 * 3600_000, settleMs = 180_000, signal } = options;
    this.#say = say;
    this.#settleMs = settleMs;
    this.#signal = AbortSignal.any([AbortSignal.timeout(limitMs), ...(signal ? [signal] : [])]);
    // Each pause of an operation listens to it.
    setMaxListeners(0, this.#signal);
    this.#violations = new Violations(say);
  }

  async report(): Promise<ChaosReport> {
    const { target, seed, faults } = this.options;
    const startedMs = performance.now();
    const host = await ChaosHost.create(faults);
    try {
      const running = await target.start(host);
      try {
        await this.#run(running, host);
      } catch (error) {
        this.#violations.add('interrupted', String(error));
      }
      await this.#stop(running, host);
    } finally {
      await host.remove();
    }
    return {
      target: target.name,
      seed,
      seconds: Math.round((performance.now() - startedMs) / 1000),
      operations: this.#fleet?.operations.length ?? 0,
      polls: this.#fleet?.polls ?? 0,
      repeatedStarts: this.#fleet?.repeatedStarts ?? 0,
      faults: this.#injector?.figures ?? {},
      gapsMs: this.#gapsMs,
      violations: this.#violations.all,
    };
  }

  async #run(running: Running, host: ChaosHost): Promise<void> {
    const { target } = this.options;
    const violations = this.#violations;
    const signal = this.#signal;
    const { protocols, events } = running;
    const schedule = scheduleOf(target, this.options);
    let deadline = performance.now() + CALM_MS;
    const context: Context = {
      ...{ target, violations, signal, protocols, ledger: host.ledger },
      ...(events ? { events } : {}),
      deadline: () => deadline,
    };
    const calm = Fleet.calm(
      context,
      schedule.operations.map(({ kind }) => kind),
    );
    calm.startUpTo(1);
    await calm.end();
    if (violations.all.length > 0) throw new Error('there are violations without any fault');
    this.#say(`${calm.operations.length} kinds of operations have run without faults`);

    deadline = Infinity;
    const fleet = (this.#fleet = new Fleet(context, schedule.operations));
    const { handle } = calm.operations[0]!;
    const services = new Services(protocols[0]!, target.tools.probe!, host.ledger, handle!, signal);
    const injector = new Injector(target, running, host, services, violations, signal);
    this.#injector = injector;
    for (const [index, fault] of schedule.faults.entries()) {
      fleet.startUpTo((index + 1) / schedule.faults.length);
      await delay(fault.pauseMs, undefined, { signal });
      this.#say(`${index + 1} of ${schedule.faults.length}: ${await injector.inject(fault)}`);
    }
    deadline = performance.now() + this.#settleMs;
    await fleet.settle();
    this.#say(`${fleet.operations.length} operations are over, or wait for a person`);
    deadline = performance.now() + this.#settleMs;
    await fleet.end();
    deadline = performance.now() + this.#settleMs;
    await fleet.readAll();
    fleet.compareWith(calm);
    if (running.count) await fleet.compareCount(running.count, calm, this.#settleMs);
    this.#checkLedger(new Ledger(host.ledger), fleet, injector);
  }

  #checkLedger(ledger: Ledger, fleet: Fleet, injector: Injector): void {
    for (const operation of fleet.operations) {
      ledger.check(operation, this.#violations);
      if (!operation.tool.isOnce) continue;
      const gapsMs = ledger.gapsMs(operation, (from, to) => injector.faultMs(from, to));
      ledger.checkGaps(operation, gapsMs, this.#violations);
      this.#gapsMs.push(...gapsMs);
    }
  }

  /** Stops the target; nothing of it may be left then. */
  async #stop(running: Running, host: ChaosHost): Promise<void> {
    const limit = delay(STOP_LIMIT_MS, 'late', { ref: false });
    const how = await Promise.race([running.stop().catch(String), limit]);
    // An interrupted run leaves what it was at.
    if (this.#signal.aborted) return;
    if (how === 'late')
      this.#violations.add('left process', `it did not stop within ${STOP_LIMIT_MS / 1000} s`);
    for (const left of await leftProcesses(host.root)) this.#violations.add('left process', left);
    for (const place of running.leftovers ?? [])
      for (const path of leftFiles(place)) this.#violations.add('left file', path);
  }
}
