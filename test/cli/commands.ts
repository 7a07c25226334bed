/** Running `longhaul` as people and scripts do: as a process, with a terminal or without. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { keepOutput } from '../support/process-log.js';
import { inheritedEnvironment } from '../support/run-temporal.js';
import type { TestStack } from '../support/test-stack.js';

const MAIN = resolve('dist/bin/longhaul.js');

export interface Ended {
  code: number | string;
  stdout: string;
  stderr: string;
}

export interface Running {
  readonly pid: number;
  readonly stdout: string;
  readonly stderr: string;
  signal(name: NodeJS.Signals): void;
  ended: Promise<Ended>;
}

function environmentOf(parts: TestStack, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    ...inheritedEnvironment(environment),
    NODE_OPTIONS: '',
    LONGHAUL_PORT: String(parts.port),
    ...environment,
  };
}

/** Starts a command that has no terminal. */
export function start(
  parts: TestStack,
  args: string[],
  { input = '', environment = {} }: { input?: string; environment?: NodeJS.ProcessEnv } = {},
): Running {
  const child = spawn(process.execPath, [MAIN, ...args], { env: environmentOf(parts, environment) });
  keepOutput(child, args.slice(0, 2).join('-'));
  const text = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (text.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text.stderr += chunk.toString()));
  child.stdin.end(input);
  return {
    pid: child.pid!,
    get stdout() {
      return text.stdout;
    },
    get stderr() {
      return text.stderr;
    },
    signal: (name) => child.kill(name),
    ended: new Promise((settle) =>
      child.once('close', (code, signal) => settle({ ...text, code: code ?? signal ?? '?' })),
    ),
  };
}

/** Runs a command that has no terminal to its end. */
export async function run(
  parts: TestStack,
  args: string[],
  options?: Parameters<typeof start>[2],
): Promise<Ended> {
  return start(parts, args, options).ended;
}

/** The documents that a command with --json prints. */
export function documents<Document = Record<string, unknown>>({ stdout }: Ended): Document[] {
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Document);
}

export const KEYS = { enter: '\r', down: '\u001b[B', left: '\u001b[D', space: ' ', interrupt: '\u0003' };

export interface TerminalOptions {
  columns?: number;
  rows?: number;
  environment?: Record<string, string>;
}

/** A command in a pseudo-terminal (util-linux's `script`), and somebody who types. */
export class Terminal {
  readonly #child;
  readonly ended: Promise<number | string>;
  #output = '';
  #readTo = 0;

  constructor(
    parts: TestStack,
    args: string[],
    { columns = 100, rows = 40, environment = {} }: TerminalOptions = {},
  ) {
    // Shells set COLUMNS themselves.
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
    const words = ['env', ...variables, process.execPath, MAIN, ...args];
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const command = `stty cols ${columns} rows ${rows}; exec ${quoted}`;
    this.#child = spawn('script', ['-q', '-e', '-f', '-c', command, '/dev/null'], {
      env: environmentOf(parts, { TERM: 'xterm' }),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child.stdout.on('data', (chunk: Buffer) => (this.#output += chunk.toString()));
    this.ended = new Promise((settle) =>
      this.#child.once('close', (code, signal) => settle(code ?? signal ?? '?')),
    );
  }

  /** All that was shown, without the codes that place and colour it. */
  get screen(): string {
    // eslint-disable-next-line no-control-regex
    return this.#output.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '');
  }

  /** All that was written to the terminal. */
  get raw(): string {
    return this.#output;
  }

  /** Sends a signal to the command. */
  signal(name: NodeJS.Signals): void {
    const [child] = readFileSync(`/proc/${this.#child.pid}/task/${this.#child.pid}/children`, 'utf8').split(
      ' ',
    );
    process.kill(Number(child), name);
  }

  /** Waits until a text is shown that was not shown before the last wait. */
  async shows(text: string | RegExp): Promise<string> {
    const found = await eventually(
      () => `the terminal shows ${String(text)}; it shows\n${JSON.stringify(this.#output.slice(-2000))}`,
      () => {
        const rest = this.screen.slice(this.#readTo);
        const at = typeof text === 'string' ? rest.indexOf(text) : rest.search(text);
        return at < 0 ? undefined : { at, rest };
      },
      30_000,
    );
    this.#readTo += found.at + 1;
    return found.rest.slice(found.at);
  }

  type(keys: string): void {
    this.#child.stdin.write(keys);
  }

  /** Waits for a text, then types. */
  async at(text: string | RegExp, ...keys: string[]): Promise<void> {
    await this.shows(text);
    for (const key of keys) {
      this.type(key);
      // One key at a time, as people do; a prompt takes a burst for a paste.
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

/** Opens terminals on a test file's stack; each ends after its test. */
export function terminalOpener(parts: () => TestStack): (...args: string[]) => Terminal {
  const terminals: Terminal[] = [];
  afterEach(() => terminals.splice(0).forEach((terminal) => terminal.kill()));
  return (...args) => {
    const terminal = new Terminal(parts(), args);
    terminals.push(terminal);
    return terminal;
  };
}
