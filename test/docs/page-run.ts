/** Runs the commands of a page in a shell, as its reader does: on a home of its own, in one folder, one after the other. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { cachedBinaryPath } from '../../stack/temporal/binary.js';
import { eventually, TestHome } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { keepOutput } from '../support/process-log.js';
import type { Shown } from './blocks.js';
import { compare } from './compare.js';

const MAIN = resolve('dist/bin/longhaul.js');
/** Command lines that run on until they are ended, with variables before them. */
const SERVICE = /^(?:[A-Z_]+=(?:'[^']*'|\S+) )*(?:longhaul (up|server|worker|temporal)\b|(npm) start)/;

/** Commands that only read: what the page shows may come later. */
const READ = /^longhaul (deploy status|doctor|get|hosts|list|logs|result|status)\b/;
/** Exit code after Ctrl-C. */
const LEFT = 130;

interface Service {
  kind: string;
  process: ChildProcess;
  output: () => string;
}

export interface PageOptions {
  /** Folder in which the commands run. Default: an empty one */
  folder?: string;
  environment?: Record<string, string>;
  /** The line that starts the stack which the page's commands talk to. */
  stack?: string;
}

export class PageRun {
  folder: string;
  /** API keys, with authentication. */
  keys = { operator: '', other: '' };
  /** Beginning of a command that asks in a terminal -> text of its question, at which it is left to continue. */
  readonly asks = new Map<string, string>();
  /** Texts of the page -> what stands for them here. */
  readonly names = new Map<string, string>();
  /** Lines that set up the shell for the commands after them. */
  readonly #setUp: string[] = [];
  readonly #services: Service[] = [];

  private constructor(
    readonly home: TestHome,
    readonly root: string,
    private readonly options: PageOptions,
  ) {
    this.folder = options.folder ?? join(root, 'project');
    mkdirSync(this.folder, { recursive: true });
  }

  static async open(options: PageOptions = {}): Promise<PageRun> {
    const page = new PageRun(await TestHome.create(), mkdtempSync(join(tmpdir(), 'longhaul-docs-')), options);
    page.#program('longhaul', `exec '${process.execPath}' '${MAIN}' "$@"`);
    const temporal = cachedBinaryPath(process.env['LONGHAUL_BIN_FOLDER'] ?? join(homedir(), '.longhaul/bin'));
    page.#program(
      'temporal',
      `export TEMPORAL_ADDRESS="\${TEMPORAL_ADDRESS:-127.0.0.1:${page.home.temporalPort}}"\nexec '${temporal}' "$@"`,
    );
    return page;
  }

  setUp(line: string): void {
    this.#setUp.push(line);
  }

  moveTo(folder: string): void {
    this.folder = folder;
  }

  /** Has another caller start an operation. @returns the token under which the operator's list has it, once it has that status */
  async othersOperation(tool: string, status: string): Promise<string> {
    await this.shell(`LONGHAUL_API_KEY=${this.keys.other} longhaul call ${tool} --detach`);
    return eventually(`${tool} is ${status}`, async () => {
      const { text } = await this.shell(`longhaul list --everyone --status ${status} --tool ${tool} --json`);
      return (JSON.parse(text) as { operations: { token: string }[] }).operations[0]?.token;
    });
  }

  /** Runs a command, and compares its output with the page's. */
  async follow({ command, output }: Shown): Promise<void> {
    const [, part, npm] = SERVICE.exec(this.#here(command)) ?? [];
    const kind = part ?? (npm && 'up');
    if (kind !== undefined) {
      const said = await this.#start(kind, this.#here(command));
      if (output) this.#compare(command, output, said);
      return;
    }
    if (/^export /.test(command)) this.setUp(this.#here(command));
    if (READ.test(command)) return this.#read(command, output);
    const [, question] = [...this.asks].find(([beginning]) => command.startsWith(beginning)) ?? [];
    const { code, text } =
      question === undefined || command.endsWith('--detach')
        ? await this.shell(command)
        : await this.#terminal(command, question);
    // The shown output may be of a failure.
    if (output) this.#compare(command, output, text);
    else if (code !== 0) throw new Error(`${command} ended with ${code}: ${text}`);
  }

  /** Repeats a command until it succeeds and prints what the page shows: a person reads more slowly than this test. */
  async #read(command: string, output: string[] = []): Promise<void> {
    let problem: unknown;
    await eventually(
      () => String(problem),
      async () => {
        const { code, text } = await this.shell(command);
        problem = `${command} ended with ${code}: ${text}`;
        try {
          this.#compare(command, output, text);
          // The status of a failed operation ends so.
          return code === 0 || (code === 1 && command.startsWith('longhaul status'));
        } catch (error) {
          problem = error;
          return false;
        }
      },
    );
  }

  /** Starts the page's stack before commands that need one. A block that starts processes itself has what it needs. */
  async begin([first]: Shown[]): Promise<void> {
    const { stack } = this.options;
    if (stack === undefined || SERVICE.test(this.#here(first!.command))) return;
    if (!this.#services.some(({ kind }) => kind === 'up')) await this.#start('up', this.#here(stack));
  }

  /** Types a command into a terminal, and leaves the operation at its question with Ctrl-C. */
  async #terminal(line: string, question: string): Promise<{ code: number | null; text: string }> {
    const quoted = `'stty cols 120 rows 40; ${this.#here(line).replaceAll("'", `'\\''`)}'`;
    const child = this.#bash(`TERM=xterm exec script -q -e -f -c ${quoted} /dev/null`, 'pipe');
    let text = '';
    child.stdout!.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const closed = once(child, 'close');
    // eslint-disable-next-line no-control-regex
    const screen = () => text.replace(/\u001b\[[0-9;?]*[A-Za-z]|\r/g, '');
    await eventually(
      () => `${line} asks; it says ${text}`,
      () => screen().includes(question),
      PROCESSES_MS,
    );
    child.stdin!.write('\u0003');
    const [code] = (await closed) as [number];
    const [, token] = / runs as ([0-9a-f]{32})/.exec(screen()) ?? [];
    if (token) this.names.set('TOKEN', token);
    return { code: code === LEFT ? 0 : code, text: screen() };
  }

  /** Runs a line of the page to its end. @returns its exit code, and all that it printed */
  async shell(line: string): Promise<{ code: number | null; text: string }> {
    if (this.#services.length === 0) await this.begin([{ command: line, output: undefined }]);
    const child = this.#bash(this.#here(line));
    let text = '';
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, text };
  }

  async close(): Promise<void> {
    await this.#end();
    await this.home.remove();
    rmSync(this.root, { recursive: true, force: true });
  }

  /** A stack of `up` and processes by themselves don't run beside each other. */
  async #start(kind: string, line: string): Promise<string> {
    if (kind === 'up' || this.#services.some((one) => one.kind === 'up')) await this.#end();
    const child = this.#bash(`exec env ${line}`);
    keepOutput(child, `docs-${kind}`);
    let text = '';
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const service: Service = { kind, process: child, output: () => text };
    this.#services.push(service);
    await eventually(
      () => `${line} is ready; it said: ${text}`,
      async () => {
        if (child.exitCode !== null) throw new Error(`${line} ended: ${text}`);
        return this.#isReady(service, line);
      },
      PROCESSES_MS,
    );
    return text;
  }

  async #isReady({ kind, output }: Service, line: string): Promise<boolean> {
    if (kind === 'up') return output().includes('Ctrl-C stops it');
    if (kind === 'temporal') return this.home.state().temporalAddress !== undefined;
    const [, health] = /--health-address (\S+)/.exec(line) ?? [];
    if (kind === 'worker' && health === undefined) return output().includes('worker runs');
    return fetch(`http://${health ?? `127.0.0.1:${this.home.port}`}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  async #end(): Promise<void> {
    for (const { process: child } of this.#services.splice(0).reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    }
    // npm ends before the stack that it has started.
    if (existsSync(join(this.home.path, 'stack.lock'))) await this.home.run(['down']).ended;
  }

  #bash(line: string, stdin: 'ignore' | 'pipe' = 'ignore'): ChildProcess {
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(LONGHAUL|TEMPORAL)_/.test(name) || name === 'LONGHAUL_BIN_FOLDER',
    );
    return spawn('bash', ['-c', [...this.#setUp, line].join('\n')], {
      cwd: this.folder,
      stdio: [stdin, 'pipe', 'pipe'],
      env: {
        ...Object.fromEntries(inherited),
        ...{ NODE_OPTIONS: '', PATH: `${join(this.root, 'bin')}:${process.env['PATH']}` },
        ...{ LONGHAUL_HOME: this.home.path, LONGHAUL_PORT: String(this.home.port) },
        LONGHAUL_TEMPORAL_PORT: String(this.home.temporalPort),
        ...this.options.environment,
      },
    });
  }

  #program(name: string, script: string): void {
    const folder = join(this.root, 'bin');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), `#!/bin/bash\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }

  #here(text: string): string {
    return [...this.names].reduce((found, [name, value]) => found.replaceAll(name, value), text);
  }

  #compare(command: string, shown: string[], text: string): void {
    const { missing, tokens } = compare(
      shown.map((line) => this.#here(line)),
      text,
    );
    if (missing !== undefined)
      throw new Error(`${command}: the page shows\n${missing}\nwhich isn't in\n${text}`);
    for (const [page, here] of tokens) this.names.set(page, here);
  }
}
