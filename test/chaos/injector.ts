/** Faults of a schedule, one after the other, and the time to service after each. */
import { setTimeout as delay } from 'node:timers/promises';
import { eventually, kill } from '../stack/cli-process.js';
import { pause } from './faults/pause.js';
import type { ChaosHost } from './host.js';
import { partEnds } from './ledger.js';
import { isProcessOf } from './leftovers.js';
import type { Fault, FaultKind } from './schedule.js';
import type { Services } from './services.js';
import type { Running, Service, Target } from './target.js';
import type { Violations } from './violations.js';

/** Time for a process to be started again by the target itself, in milliseconds. */
const RESTARTED_MS = 120_000;
/** Time for a part of an operation to end, in milliseconds, before an aimed kill happens without one. */
const PART_ENDS_MS = 10_000;
/** Times in a row that no service is back before the run is given up. */
const LOST_LIMIT = 2;

/** Faults of one name. */
export interface FaultFigures {
  kind: FaultKind;
  times: number;
  /** Time to service after each, in milliseconds. */
  backMs: number[];
}

export class Injector {
  readonly figures: Record<string, FaultFigures> = {};
  /** Times of the day at which each fault began, and at which everything was served again, in milliseconds. */
  readonly #intervals: { fromMs: number; toMs: number }[] = [];
  #lost = 0;

  constructor(
    private readonly target: Target,
    private readonly running: Running,
    private readonly host: ChaosHost,
    private readonly services: Services,
    private readonly violations: Violations,
    private readonly signal: AbortSignal,
  ) {}

  /** Lets a fault happen, and waits until everything is served again. @returns a line about it */
  async inject(fault: Fault): Promise<string> {
    const fromMs = Date.now();
    const name = nameOf(fault);
    const backMs = await this.#happen(fault);
    const figures = (this.figures[name] ??= { kind: fault.kind, times: 0, backMs: [] });
    figures.times += 1;
    if (backMs !== undefined) figures.backMs.push(backMs);
    // The next fault finds everything at work.
    for (const service of ['reads', 'work'] as const) await this.#untilBack(name, service);
    this.#intervals.push({ fromMs, toMs: Date.now() });
    return `${name}: ${backMs === undefined ? 'not back' : `back after ${(backMs / 1000).toFixed(2)} s`}`;
  }

  /** Time of faults between two times of the day, in milliseconds. */
  faultMs(fromMs: number, toMs: number): number {
    return this.#intervals.reduce(
      (sum, one) => sum + Math.max(0, Math.min(toMs, one.toMs) - Math.max(fromMs, one.fromMs)),
      0,
    );
  }

  /** @returns time to service, from the kill, or from the end of a fault that lasts */
  async #happen(fault: Fault): Promise<number | undefined> {
    const name = nameOf(fault);
    switch (fault.kind) {
      case 'kill': {
        const pids = await Promise.all(fault.victims.map((victim) => this.#pidOf(victim)));
        if (fault.afterPartMs !== undefined && (await this.#partEnds())) await this.#last(fault.afterPartMs);
        const from = performance.now();
        pids.forEach(kill);
        const [isBack] = await Promise.all([
          this.#untilBack(name, this.#serviceOf(fault.victims)),
          ...fault.victims.map((victim) => this.running.processes[victim]!.restart?.()),
        ]);
        return isBack === undefined ? undefined : performance.now() - from;
      }
      case 'stop':
        await Promise.all(
          fault.victims.map(async (victim) => pause(await this.#pidOf(victim), fault.lastsMs)),
        );
        return this.#untilBack(name, this.#serviceOf(fault.victims));
      case 'network':
        await this.host.links!.fault(fault.link, fault.how);
        await this.#last(fault.lastsMs);
        await this.host.links!.heal(fault.link);
        return this.#untilBack(name, 'work');
      case 'clock':
        this.host.clockOfTarget!.jump(fault.jumpSeconds);
        return this.#untilBack(name, 'work');
      case 'disk':
        this.host.disk!.fill();
        await this.#last(fault.lastsMs);
        this.host.disk!.free();
        return this.#untilBack(name, 'work');
    }
  }

  /** Waits until the next part of an operation whose parts run once is about to begin. */
  #partEnds(): Promise<boolean> {
    const once = Object.entries(this.target.tools).filter(([, { isOnce }]) => isOnce);
    const isFollowed = (name: string, part: number) =>
      once.some(([kind, { parts }]) => name.startsWith(`${kind}-`) && part < parts);
    return partEnds(this.host.ledger, isFollowed, PART_ENDS_MS, this.signal);
  }

  #serviceOf(victims: string[]): Service {
    return victims.some((victim) => this.target.processes[victim]!.service === 'work') ? 'work' : 'reads';
  }

  async #last(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.signal });
  }

  async #untilBack(name: string, service: Service): Promise<number | undefined> {
    const backMs = await this.services.untilBack(service);
    if (backMs !== undefined) {
      this.#lost = 0;
      return backMs;
    }
    this.violations.add('not back', `${service} after ${name}, at ${new Date().toISOString()}`);
    this.#lost += 1;
    if (this.#lost >= LOST_LIMIT) throw new Error(`${service} are not served any more after ${name}`);
    return undefined;
  }

  async #pidOf(victim: string): Promise<number> {
    const { pid } = this.running.processes[victim]!;
    return eventually(
      `${victim} runs`,
      () => {
        this.signal.throwIfAborted();
        const found = pid();
        return found !== undefined && isProcessOf(this.host.root, found) ? found : undefined;
      },
      RESTARTED_MS,
    );
  }
}

function nameOf(fault: Fault): string {
  switch (fault.kind) {
    case 'kill':
      return fault.victims.length > 1 ? 'kill two at once' : `kill ${fault.victims.join()}`;
    case 'stop':
      return `stop ${fault.victims.join()}`;
    case 'network':
      return `${fault.how} link ${fault.link}`;
    default:
      return fault.kind;
  }
}
