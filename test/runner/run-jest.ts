/** Runs programs of the tests: Jest, checks, preparations. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileResults, runFailures, type FileResult, type JestReport } from './jest-report.js';

export const JEST = [process.execPath, 'node_modules/jest/bin/jest.js'];

/** Variables of a Jest that loads ES modules. */
export const jestEnvironment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --experimental-vm-modules`.trim(),
});

/**
 * Runs a program on this terminal. Ctrl-C reaches it by itself; SIGTERM is passed on. Once it has ended, the signal ends this
 * process too.
 *
 * @returns its exit code
 */
export function run(command: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  const child = spawn(command[0]!, command.slice(1), { stdio: 'inherit', env });
  let received: NodeJS.Signals | undefined;
  const wait = (signal: NodeJS.Signals) => void (received = signal);
  const pass = (signal: NodeJS.Signals) => {
    received = signal;
    child.kill(signal);
  };
  process.on('SIGINT', wait);
  process.on('SIGTERM', pass);
  return new Promise<number>((settle, fail) => {
    child.once('error', fail);
    child.once('close', (code) => settle(code ?? 1));
  }).finally(() => {
    process.off('SIGINT', wait);
    process.off('SIGTERM', pass);
    if (received) process.kill(process.pid, received);
  });
}

/** Options of Jest by which the caller chooses the files, or runs none. */
const CHOOSES =
  /^(--(testPathPatterns?|listTests|onlyChanged|changedSince|onlyFailures|help|version|showConfig|clearCache)\b|-[ofh]$)/;

/** Whether arguments of Jest choose files. A word after an option is its value, unless it is a path that exists. */
export function chooseFiles(args: readonly string[], exists = existsSync): boolean {
  return args.some((argument, index) => {
    if (argument.startsWith('-')) return CHOOSES.test(argument);
    return exists(argument) || !args[index - 1]?.startsWith('-');
  });
}

export interface JestRun {
  results: FileResult[];
  /** Failures that no file shows. */
  failures: string[];
}

/**
 * Runs Jest and reads its report.
 *
 * @param options.files files that have to run. Default: whatever the arguments choose
 * @param options.command a program that takes Jest's options. Default: Jest
 */
export async function runJest(
  args: readonly string[],
  options: { files?: readonly string[]; command?: readonly string[] } = {},
): Promise<JestRun> {
  const { files = [], command = JEST } = options;
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-report-'));
  const path = join(folder, 'report.json');
  try {
    const byPath = files.length > 0 ? ['--runTestsByPath', ...files] : [];
    const code = await run(
      [...command, ...args, '--json', `--outputFile=${path}`, ...byPath],
      jestEnvironment(),
    );
    const report = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as JestReport) : undefined;
    const results = report ? fileResults(report) : [];
    const failures = runFailures(report, files);
    if (code !== 0 && failures.length === 0 && results.every(({ counts }) => counts.failed === 0))
      failures.push(`Jest ended with code ${code}`);
    return { results, failures };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
