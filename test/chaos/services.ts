/** Time to service: how long after a fault reads are answered again, and new work comes to its end. */
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProtocolClient } from '../support/protocols/index.js';
import { attempted } from './limited.js';
import type { Service, WorkloadTool } from './target.js';

/** Between two attempts to read, in milliseconds. */
const READ_MS = 100;
/** Limit of one read; those of a served process take milliseconds. */
const READ_LIMIT_MS = 1_000;
/** Between the starts of two probes: one that a killed worker had been given may end late. */
const PROBE_MS = 500;
/** Time after which a service counts as gone for good, in milliseconds. */
const BACK_LIMIT_MS = 120_000;

export class Services {
  #probes = 0;

  constructor(
    private readonly protocol: ProtocolClient,
    private readonly probe: WorkloadTool,
    private readonly ledger: string,
    /** Handle of a closed operation. */
    private readonly handle: string,
    private readonly signal: AbortSignal,
  ) {
    // Many probes may run at once, and each waits on it.
    setMaxListeners(0, signal);
  }

  /** @returns milliseconds from the call until the service was back; undefined if it was not within its limit */
  async untilBack(service: Service): Promise<number | undefined> {
    const from = performance.now();
    const isBack = service === 'reads' ? await this.#untilRead(from) : await this.#untilWorked(from);
    return isBack ? performance.now() - from : undefined;
  }

  async #untilRead(from: number): Promise<boolean> {
    while (performance.now() - from < BACK_LIMIT_MS) {
      // The answer that there is no such operation any more is one too.
      if (await attempted(async (signal) => [await this.protocol.read(this.handle, signal)], READ_LIMIT_MS))
        return true;
      await this.#pause(READ_MS);
    }
    return false;
  }

  /** Starts probes until one of them is completed. */
  async #untilWorked(from: number): Promise<boolean> {
    const done = new AbortController();
    const isLate = () => done.signal.aborted || performance.now() - from > BACK_LIMIT_MS;
    let isBack = false;
    const probes: Promise<void>[] = [];
    while (!isLate()) {
      probes.push(
        this.#runProbe(isLate).then((isDone) => {
          if (!isDone) return;
          isBack = true;
          done.abort();
        }),
      );
      await delay(PROBE_MS, undefined, { signal: done.signal }).catch(() => undefined);
      this.signal.throwIfAborted();
    }
    await Promise.all(probes);
    return isBack;
  }

  async #runProbe(isLate: () => boolean): Promise<boolean> {
    const name = `probe-${(this.#probes += 1)}`;
    const args = this.probe.args({ name, ledger: this.ledger, attempt: 1 });
    const handle = await attempted(
      (signal) => this.protocol.start(this.probe.tool, args, `chaos-${name}`, signal),
      READ_LIMIT_MS,
    );
    while (handle !== undefined && !isLate()) {
      const reading = await attempted((signal) => this.protocol.read(handle, signal), READ_LIMIT_MS);
      if (reading?.isOver) return true;
      await this.#pause(READ_MS);
    }
    return false;
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.signal });
  }
}
