/** `longhaul stdio` beside a server and a worker that run already, as on a host that starts the stack's parts itself. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { loadSecret } from '../../platform/home/secret.js';
import { takeStackLock } from '../../stack/stack-lock.js';
import { FIXTURES, TestStack } from './test-stack.js';

/** One process, with what it has written to standard output. */
export interface StdioProcess {
  process: ChildProcess;
  stdout(): string;
  /** Messages of its complete lines. */
  messages(): any[];
  send(message: unknown): void;
  /** The exit code, or the signal's name. */
  ended: Promise<number | string>;
  /** Closes its standard input, and waits for its end. */
  end(): Promise<number | string>;
}

export class StdioServers {
  /** The command, for clients that start it themselves. */
  readonly server: { command: string; args: string[]; env: Record<string, string> };
  readonly #home = mkdtempSync(join(tmpdir(), 'longhaul-stdio-'));
  readonly #release: () => void;
  readonly #processes: StdioProcess[] = [];

  private constructor(readonly parts: TestStack) {
    // Without a holder of its home's lock the command would start a stack.
    const held = takeStackLock(this.#home, 'temporal');
    if (typeof held !== 'function') throw new Error('the lock of a new home is taken');
    this.#release = held;
    const home = process.env['LONGHAUL_HOME']!;
    mkdirSync(join(home, 'storage'), { recursive: true });
    symlinkSync(join(home, 'storage'), join(this.#home, 'storage'));
    const temporal = Object.entries(process.env).filter(([name]) => name.startsWith('TEMPORAL_'));
    const args = [resolve('dist/bin/longhaul.js'), 'stdio', '--home', this.#home];
    const env = {
      PATH: process.env['PATH']!,
      HOME: process.env['HOME']!,
      ...(Object.fromEntries(temporal) as Record<string, string>),
      LONGHAUL_PROJECT: FIXTURES,
      LONGHAUL_PIPELINE_FOLDERS: join(FIXTURES, 'pipelines'),
      LONGHAUL_TASK_QUEUE: parts.taskQueue,
      LONGHAUL_PORT: String(parts.port),
      LONGHAUL_SECRET: loadSecret(home).toString('base64'),
      ...parts.environment,
    };
    this.server = { command: process.execPath, args, env };
  }

  /** @param parts the stack, which `stop()` stops too. Default: the run's shared one */
  static async open(parts?: TestStack): Promise<StdioServers> {
    return new StdioServers(parts ?? (await TestStack.shared()));
  }

  run(): StdioProcess {
    const { command, args, env } = this.server;
    const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    const ended = new Promise<number | string>((settle) =>
      child.once('close', (code, signal) => settle(code ?? signal ?? -1)),
    );
    const one = {
      process: child,
      stdout: () => stdout,
      messages: () =>
        stdout
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as unknown),
      send: (message: unknown) => void child.stdin.write(`${JSON.stringify(message)}\n`),
      ended,
      end: () => {
        child.stdin.end();
        return ended;
      },
    };
    this.#processes.push(one);
    return one;
  }

  /** Ends its processes. */
  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((one) => one.end()));
    this.#release();
    rmSync(this.#home, { recursive: true, force: true });
    await this.parts.stop();
  }
}
