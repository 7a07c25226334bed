/** The stack that is fuzzed: what its server holds, and what its Temporal has started. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { eventually, TestHome, type CommandRun } from '../stack/cli-process.js';
import { FIXTURES } from '../support/test-stack.js';

export interface Memory {
  /** Resident memory of the process, in bytes. */
  rss: number;
  /** Objects and buffers after a collection, in bytes. */
  used: number;
}

export class FuzzStack {
  /** PID of the server at the start: another one at the end means that it crashed. */
  readonly pid: number;
  readonly #memoryFile: string;

  private constructor(
    private readonly home: TestHome,
    private readonly connection: Connection,
    private readonly tools: string[],
    private readonly environment: NodeJS.ProcessEnv,
  ) {
    this.pid = home.parts().server;
    this.#memoryFile = memoryFileOf(home);
  }

  /** @param environment of the stack, beside the limits that would hide cases */
  static async start(environment: NodeJS.ProcessEnv = {}): Promise<FuzzStack> {
    const home = await TestHome.create();
    try {
      const settings = {
        LONGHAUL_PROJECT: FIXTURES,
        LONGHAUL_PIPELINE_FOLDERS: join(FIXTURES, 'pipelines'),
        LONGHAUL_MAILBOX: 'true',
        LONGHAUL_LOG_LEVEL: 'warn',
        // Lists beyond it are refused as unavailable.
        LONGHAUL_VISIBILITY_CALLS_PER_SECOND: '1000',
        LONGHAUL_FUZZ_MEMORY_FILE: memoryFileOf(home),
        NODE_OPTIONS: `--expose-gc --import=${resolve('test/fuzz/measure-memory.js')}`,
        ...environment,
      };
      await home.up(settings);
      const connection = await Connection.connect({ address: home.state().temporalAddress! });
      const ready = (await (await fetch(`${home.url}/readyz`)).json()) as { tools: string[] };
      return new FuzzStack(home, connection, ready.tools, settings);
    } catch (error) {
      await home.remove();
      throw error;
    }
  }

  /** Starts a server over stdio on the same stack. */
  stdio(): CommandRun {
    return this.home.run(['stdio'], { ...this.environment, LONGHAUL_FUZZ_MEMORY_FILE: '' });
  }

  get base(): string {
    return this.home.url;
  }

  /** Workflows of tools: every operation that was ever started, unless it was deleted. */
  async countOperations(): Promise<number> {
    const client = new Client({ connection: this.connection });
    const types = this.tools.map((name) => `'${name}'`).join(', ');
    const count = async () => (await client.workflow.count(`WorkflowType IN (${types})`)).count;
    // Visibility lags.
    let last = -1;
    return eventually('the count stays', async () => {
      const now = await count();
      const isSettled = now === last;
      last = now;
      if (!isSettled) await new Promise((settle) => setTimeout(settle, 1_000));
      return isSettled ? Math.max(now, 0.1) : undefined;
    }).then(Math.floor);
  }

  async memory(): Promise<Memory> {
    rmSync(this.#memoryFile, { force: true });
    process.kill(this.pid, 'SIGUSR2');
    await eventually('the server has measured its memory', () => existsSync(this.#memoryFile));
    return JSON.parse(readFileSync(this.#memoryFile, 'utf8')) as Memory;
  }

  /** Violations of a crash: another process serves, or none. */
  async crashes(): Promise<string[]> {
    const { server } = this.home.parts();
    return [
      ...(server === this.pid ? [] : [`the server was process ${this.pid}, and is ${server}`]),
      ...((await this.home.isReady()) ? [] : ['GET /readyz is not answered with 200']),
    ];
  }

  async stop(): Promise<void> {
    await this.connection.close();
    await this.home.remove();
  }
}

function memoryFileOf(home: TestHome): string {
  return join(home.path, 'server-memory.json');
}
