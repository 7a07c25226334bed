/** Host of a target: a disk that fills, links that fail, a clock that jumps. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Clock } from './faults/clock.js';
import { Disk } from './faults/disk.js';
import { Links } from './faults/links.js';
import { killProcessesOf } from './leftovers.js';
import type { FaultKind } from './schedule.js';
import type { Host } from './target.js';

/** Room for a run of 500 operations beside Temporal's database. */
const DISK_MB = 1_024;

export class ChaosHost implements Host {
  readonly folder: string;
  readonly ledger: string;
  links: Links | undefined;
  clockOfTarget: Clock | undefined;
  disk: Disk | undefined;

  /** @param root folder of the run: every process of the target names it */
  private constructor(readonly root: string) {
    this.folder = join(root, 'disk');
    this.ledger = join(root, 'ledger');
  }

  /** @param kinds faults that will happen: only what they need is set up */
  static async create(kinds: readonly FaultKind[]): Promise<ChaosHost> {
    const host = new ChaosHost(realpathSync(mkdtempSync(join(tmpdir(), 'longhaul-chaos-'))));
    try {
      mkdirSync(host.folder);
      if (kinds.includes('disk')) host.disk = await Disk.mount(host.folder, DISK_MB);
      if (kinds.includes('clock')) {
        const folder = join(host.root, 'clock');
        mkdirSync(folder);
        host.clockOfTarget = await Clock.create(folder);
      }
      if (kinds.includes('network')) host.links = await Links.start();
      return host;
    } catch (error) {
      await host.remove();
      throw error;
    }
  }

  get clock(): Record<string, string> {
    return this.clockOfTarget?.environment ?? {};
  }

  async link(name: string, upstreamPort: number): Promise<number> {
    return this.links ? this.links.open(name, upstreamPort) : upstreamPort;
  }

  /** Kills what is left of the target, and removes everything. */
  async remove(): Promise<void> {
    killProcessesOf(this.root);
    await this.links?.stop();
    this.disk?.free();
    this.disk?.unmount();
    rmSync(this.root, { recursive: true, force: true });
  }
}
