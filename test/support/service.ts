/** A foreign program that tests run: it is started again after a kill, with the same files and ports. */
import { setTimeout as delay } from 'node:timers/promises';
import { launch, type Launched } from '../../stack/launcher.js';
import { logTail } from '../../stack/log-files.js';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from './limits.js';

/** Pause before a program that ended while it started is started again, in milliseconds. */
const AGAIN_MS = 300;

export interface ServiceOptions {
  /** Name of its log. */
  name: string;
  /** Holds the log. */
  folder: string;
  command: readonly string[];
  environment?: NodeJS.ProcessEnv;
  isReady: (pid: number) => boolean | Promise<boolean>;
  /** Default: 10 s. */
  graceMs?: number;
}

export class Service {
  #running: Launched | undefined;
  #hasEnded = true;

  private constructor(private readonly options: ServiceOptions) {}

  static async start(options: ServiceOptions): Promise<Service> {
    const service = new Service(options);
    try {
      await service.restart();
    } catch (error) {
      await service.stop();
      throw error;
    }
    return service;
  }

  get pid(): number | undefined {
    return this.#hasEnded ? undefined : this.#running?.pid;
  }

  /** Starts it once it has ended, and waits until it is ready. Files of a killed one may keep it from starting for a moment. */
  async restart(): Promise<void> {
    const { name, folder, isReady } = this.options;
    await this.#running?.exited;
    await eventually(
      () => [`${name} is ready; its log ends with`, ...logTail(folder, name, 0)].join('\n  '),
      async () => {
        if (this.#hasEnded) await this.#launch();
        const { pid } = this;
        if (pid !== undefined && (await isReady(pid))) return true;
        await delay(AGAIN_MS);
        return false;
      },
      PROCESSES_MS,
    );
  }

  async stop(): Promise<void> {
    await this.#running?.stop(this.options.graceMs ?? 10_000);
  }

  async #launch(): Promise<void> {
    const { name, folder, command, environment } = this.options;
    const launched = await launch(command, {
      home: folder,
      log: name,
      environment: environment ?? process.env,
    });
    this.#running = launched;
    this.#hasEnded = false;
    void launched.exited.then(() => {
      if (this.#running === launched) this.#hasEnded = true;
    });
  }
}

/** Whether an address answers with 200. */
export async function answers(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}
