/** Running the built command line as real processes, each test on a home and ports of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readStackState, type StackState } from '../../platform/temporal/address.js';
import { processIdentity, signalProcess } from '../../platform/home/process-identity.js';
import { endStepsOf } from '../support/end-steps.js';
import { eventually, freePort } from '../support/eventually.js';
import { PROCESSES_MS } from '../support/limits.js';
import { keepOutput } from '../support/process-log.js';

export { eventually, freePort };

const MAIN = resolve('dist/bin/longhaul.js');

export interface TestHomeOptions {
  /** Executable that runs the command line. Default: this process's own */
  node?: string;
  /** Script of the command line. Default: that of this clone's `dist/` */
  program?: string;
  /** Folder in which the home is made. Default: the system's folder of temporary files */
  parent?: string;
}

export interface CommandRun {
  process: ChildProcess;
  pid: number;
  stdout(): string;
  stderr(): string;
  /** The exit code, or the signal's name. */
  ended: Promise<number | string>;
}

/** A home of its own, with everything that was started on it. */
export class TestHome {
  readonly path: string;
  private readonly runs: CommandRun[] = [];

  private constructor(
    readonly port: number,
    readonly temporalPort: number,
    private readonly options: TestHomeOptions,
  ) {
    this.path = mkdtempSync(join(options.parent ?? tmpdir(), 'longhaul-stack-'));
  }

  static async create(options: TestHomeOptions = {}): Promise<TestHome> {
    return new TestHome(await freePort(), await freePort(), options);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  state(): StackState {
    return readStackState(this.path);
  }

  /** Starts `longhaul <args>`. */
  run(args: string[], environment: NodeJS.ProcessEnv = {}, options: { detached?: boolean } = {}): CommandRun {
    const inherited = Object.entries(process.env).filter(
      ([name]) =>
        !name.startsWith('TEMPORAL_') && !(name.startsWith('LONGHAUL_') && name !== 'LONGHAUL_BIN_FOLDER'),
    );
    const { node = process.execPath, program = MAIN } = this.options;
    const child = spawn(node, [program, ...args], {
      cwd: this.path,
      detached: options.detached ?? false,
      env: {
        ...Object.fromEntries(inherited),
        LONGHAUL_HOME: this.path,
        LONGHAUL_PORT: String(this.port),
        LONGHAUL_TEMPORAL_PORT: String(this.temporalPort),
        // Nobody deploys a worker that a test starts alone, and tests end it in the middle of activities.
        ...(args[0] === 'worker'
          ? { LONGHAUL_WORKER_VERSIONING: 'false', LONGHAUL_DRAIN_TIMEOUT: '5s' }
          : {}),
        ...environment,
      },
    });
    keepOutput(child, args.slice(0, 2).join('-'));
    const text = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => (text.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (text.stderr += chunk.toString()));
    const run: CommandRun = {
      process: child,
      pid: child.pid as number,
      stdout: () => text.stdout,
      stderr: () => text.stderr,
      ended: new Promise((settle) => child.once('close', (code, signal) => settle(signal ?? code ?? -1))),
    };
    this.runs.push(run);
    return run;
  }

  /** Starts `longhaul up` and waits until it says that it is ready. */
  async up(environment: NodeJS.ProcessEnv = {}, options: { detached?: boolean } = {}): Promise<CommandRun> {
    const run = this.run(['up'], environment, options);
    await eventually(
      () => `the stack is ready; it said: ${run.stdout()}${run.stderr()}`,
      () => {
        if (run.process.exitCode !== null) throw new Error(`it ended: ${run.stderr()}`);
        return run.stdout().includes('Longhaul is ready');
      },
      PROCESSES_MS,
    );
    return run;
  }

  async isReady(): Promise<boolean> {
    return fetch(`${this.url}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
  }

  /** PIDs of the stack's parts, as it has written them down. */
  parts(): { temporal: number; worker: number; server: number } {
    const { temporalPid, workerPid, serverPid } = this.state();
    return { temporal: temporalPid as number, worker: workerPid as number, server: serverPid as number };
  }

  /** Ends whatever still runs, and removes the folder. */
  async remove(): Promise<void> {
    if (existsSync(join(this.path, 'stack.lock')) || existsSync(join(this.path, 'stack.json'))) {
      await this.run(['down']).ended;
    }
    const open = this.runs.filter(
      ({ process: { exitCode, signalCode } }) => exitCode === null && !signalCode,
    );
    for (const { process } of open) process.kill('SIGKILL');
    await Promise.all(open.map(({ ended }) => ended));
    await endStepsOf(this.path);
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Whether a process with this PID runs. */
export function isRunning(pid: number): boolean {
  return processIdentity(pid) !== undefined;
}

/** kill -9. */
export function kill(pid: number): void {
  signalProcess(pid, 'SIGKILL');
}

export function readText(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
