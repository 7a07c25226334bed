/** Network faults between processes: each link is a proxy of toxiproxy, a process of its own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Toxiproxy, type Proxy, type Toxic } from 'toxiproxy-node-client';
import { launch, type Launched } from '../../../stack/launcher.js';
import { logTail } from '../../../stack/log-files.js';
import { eventually, freePort } from '../../stack/cli-process.js';
import { installGoProgram } from '../../support/go-programs.js';
import { cacheFolder } from '../../support/install-once.js';

/** Pinned: the module proxy's newest version is an old one, since later tags have other names there. */
const PROGRAM = {
  name: 'toxiproxy',
  path: 'github.com/Shopify/toxiproxy/v2/cmd/server',
  version: '2.12.0',
  duration: 'half a minute',
};
const LOG = 'toxiproxy';
const STOP_LIMIT_MS = 5_000;

/**
 * - `cut`: connections are refused, and open ones are closed.
 * - `drop`: connections are accepted and stay open, but no data passes, in either direction. {@link Links.heal} closes them, since
 *   bytes are missing in them.
 * - `delay`: data is late by 100 to 500 ms, in each direction.
 * - `throttle`: 16 kB/s a connection, in each direction.
 */
export type LinkFault = 'cut' | 'drop' | 'delay' | 'throttle';

const TOXICS: Record<
  Exclude<LinkFault, 'cut'>,
  { type: 'timeout' | 'latency' | 'bandwidth'; attributes: object }
> = {
  // 0: the connection is not closed after a time.
  drop: { type: 'timeout', attributes: { timeout: 0 } },
  delay: { type: 'latency', attributes: { latency: 300, jitter: 200 } },
  throttle: { type: 'bandwidth', attributes: { rate: 16 } },
};

interface Link {
  proxy: Proxy;
  fault?: LinkFault;
  toxics: Toxic<unknown>[];
}

/** Links by name. A link has one fault at a time: another one replaces it. */
export class Links {
  readonly #links = new Map<string, Link>();

  private constructor(
    private readonly program: Launched,
    private readonly api: Toxiproxy,
    private readonly folder: string,
  ) {}

  /** Starts toxiproxy, and builds it first unless it is in the user's cache. */
  static async start(): Promise<Links> {
    const path = await installGoProgram(PROGRAM, join(cacheFolder(), `toxiproxy-${PROGRAM.version}`));
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-links-'));
    const port = await freePort();
    const program = await launch([path, '-host', '127.0.0.1', '-port', String(port)], {
      home: folder,
      log: LOG,
      environment: { ...process.env, LOG_LEVEL: 'warn' },
    });
    const api = new Toxiproxy(`http://127.0.0.1:${port}`);
    const links = new Links(program, api, folder);
    let ended: string | undefined;
    void program.exited.then(({ how }) => (ended = how));
    try {
      await eventually('toxiproxy answers', async () => {
        if (ended)
          throw new Error([`toxiproxy ended with ${ended}:`, ...logTail(folder, LOG, 0)].join('\n  '));
        return api.getVersion().catch(() => undefined);
      });
    } catch (error) {
      await links.stop();
      throw error;
    }
    return links;
  }

  /**
   * Opens a link to a port of this machine, at which nothing needs to listen yet.
   *
   * @returns the port of the proxy, on 127.0.0.1
   */
  async open(name: string, upstreamPort: number): Promise<number> {
    const port = await freePort();
    const proxy = await this.api.createProxy({
      name,
      listen: `127.0.0.1:${port}`,
      upstream: `127.0.0.1:${upstreamPort}`,
    });
    this.#links.set(name, { proxy, toxics: [] });
    return port;
  }

  async fault(name: string, kind: LinkFault): Promise<void> {
    await this.heal(name);
    const link = this.#link(name);
    link.fault = kind;
    if (kind === 'cut') return enable(link, false);
    for (const stream of ['upstream', 'downstream'] as const) {
      const toxic = { name: `${kind}-${stream}`, stream, toxicity: 1, ...TOXICS[kind] };
      link.toxics.push(await link.proxy.addToxic<unknown>(toxic));
    }
  }

  /** Ends the fault of a link; does nothing if it has no fault. */
  async heal(name: string): Promise<void> {
    const link = this.#link(name);
    if (link.fault === 'drop') await enable(link, false);
    for (const toxic of link.toxics.splice(0)) await toxic.remove();
    if (link.fault === 'drop' || link.fault === 'cut') await enable(link, true);
    delete link.fault;
  }

  /** Ends toxiproxy, and every connection through it. */
  async stop(): Promise<void> {
    await this.program.stop(STOP_LIMIT_MS);
    rmSync(this.folder, { recursive: true, force: true });
  }

  #link(name: string): Link {
    const link = this.#links.get(name);
    if (!link) throw new Error(`no link "${name}"`);
    return link;
  }
}

/** A proxy that is not enabled doesn't listen and has no connections. */
async function enable({ proxy }: Link, enabled: boolean): Promise<void> {
  await proxy.update({ enabled, listen: proxy.listen, upstream: proxy.upstream });
}
