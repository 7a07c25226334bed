/** A reader of docs/writing-a-tool.md: the page's files, the packed package, real processes. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { eventually, freePort } from '../stack/cli-process.js';
import { WireClient } from '../support/mcp.js';

export const run = promisify(execFile);
const CHECKOUT = resolve('.');
const PAGE = readFileSync('docs/writing-a-tool.md', 'utf8');

/** The page's code blocks that name a file: file -> text. */
export function filesOnThePage(): Record<string, string> {
  const blocks = [...PAGE.matchAll(/```(?:ts|json)\n\/\/ (\S+)\n([\s\S]*?)```/g)];
  return Object.fromEntries(blocks.map(([, path, text]) => [path!, text!]));
}

export class Reader {
  readonly root = mkdtempSync(join(tmpdir(), 'longhaul-reader-'));
  readonly project = join(this.root, 'log-tools');
  readonly #main = join(this.project, 'node_modules/longhaul/dist/cli/main.js');
  readonly #processes: ChildProcess[] = [];
  #environment: NodeJS.ProcessEnv = {};
  #port = 0;

  /** Writes the page's files into a project, and starts a server and a worker there. */
  static async start(): Promise<Reader> {
    const reader = new Reader();
    await reader.#begin();
    return reader;
  }

  get client(): WireClient {
    return new WireClient(`http://127.0.0.1:${this.#port}/mcp`);
  }

  async #begin(): Promise<void> {
    mkdirSync(this.project);
    writeFileSync(join(this.project, 'package.json'), JSON.stringify({ name: 'log-tools', type: 'module' }));
    for (const [path, text] of Object.entries(filesOnThePage())) {
      mkdirSync(dirname(join(this.project, path)), { recursive: true });
      writeFileSync(join(this.project, path), text);
    }
    await this.#install();
    this.#port = await freePort();
    this.#environment = {
      ...process.env,
      NODE_OPTIONS: '',
      LONGHAUL_PORT: String(this.#port),
      LONGHAUL_TASK_QUEUE: `test-${randomUUID()}`,
    };
    this.spawn('server');
    this.spawn('worker');
    await eventually('the server is ready', () => {
      if (this.#processes.some(({ exitCode }) => exitCode !== null)) throw new Error('a part ended');
      return fetch(`http://127.0.0.1:${this.#port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    });
  }

  /**
   * Installs the packed package the way pnpm lays it out: beside it only what it depends on, and nothing of that within
   * the project's own reach. What works here works with npm, which hides less.
   */
  async #install(): Promise<void> {
    const { dependencies, version } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      dependencies: Record<string, string>;
      version: string;
    };
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', this.root]);
    const store = join(this.root, 'store/node_modules');
    mkdirSync(store, { recursive: true });
    await run('tar', ['xzf', join(this.root, `longhaul-${version}.tgz`), '-C', store]);
    await run('mv', [join(store, 'package'), join(store, 'longhaul')]);
    for (const name of Object.keys(dependencies))
      link(join(CHECKOUT, 'node_modules', name), join(store, name));
    link(join(store, 'longhaul'), join(this.project, 'node_modules/longhaul'));
    this.link('zod');
    chmodSync(this.#main, 0o755);
  }

  /** Puts a package of the checkout into the project. */
  link(name: string): void {
    link(join(CHECKOUT, 'node_modules', name), join(this.project, 'node_modules', name));
  }

  /** Starts a part of Longhaul in the project. */
  spawn(command: 'server' | 'worker'): ChildProcess {
    const child = spawn(process.execPath, [this.#main, command], {
      cwd: this.project,
      env: this.#environment,
      stdio: 'ignore',
    });
    this.#processes.push(child);
    return child;
  }

  /** The worker that was started last. */
  get worker(): ChildProcess {
    return this.#processes.at(-1)!;
  }

  /** Runs a command of the installed package in the project's folder, as the page does. */
  async longhaul(...args: string[]): Promise<string> {
    const { stdout } = await run(process.execPath, [this.#main, ...args], {
      cwd: this.project,
      env: this.#environment,
    });
    return stdout.trim();
  }

  async stop(): Promise<void> {
    for (const child of this.#processes) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGTERM');
      await once(child, 'close');
    }
    rmSync(this.root, { recursive: true, force: true });
  }
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}
