/**
 * Jest's reporter of failures: for each failed test its file, name and promise (test/proof.ts), and the last lines of the processes
 * that its file has started. Their logs stay in test-logs/; the logs of a file that passes are removed.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createJiti } from 'jiti';

const LOGS = 'test-logs';
const LINES = 20;
const LONGEST_LINE = 500;

/** The last lines of each log of a folder, in the order in which the processes were started. */
function logTails(folder) {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .toSorted((a, b) => parseInt(a) - parseInt(b))
    .flatMap((name) => {
      const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n').slice(-LINES);
      return [`  -- ${name}`, ...lines.map((line) => `  ${line.slice(0, LONGEST_LINE)}`)];
    });
}

export default class FailureReporter {
  #proof;

  onTestFileStart({ path }) {
    rmSync(this.#folderOf(path), { recursive: true, force: true });
  }

  async onTestFileResult({ path }, { testResults, testExecError, numFailingTests }) {
    const folder = this.#folderOf(path);
    if (numFailingTests === 0 && !testExecError) {
      rmSync(folder, { recursive: true, force: true });
      return;
    }
    this.#proof ??= (await createJiti(import.meta.url).import('./proof.ts')).PROOF;
    const file = relative(process.cwd(), path);
    const promises = this.#proof.filter(({ files }) => files.includes(file)).map(({ promise }) => promise);
    const failed = testResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
    const lines = [
      `FAILED ${file}`,
      ...(failed.length > 0 ? failed : ['the file itself']).map((name) => `  test: ${name}`),
      ...promises.map((promise) => `  promise: ${promise}`),
      ...(existsSync(folder) ? [`  logs of its processes, in ${folder}:`, ...logTails(folder)] : []),
    ];
    process.stderr.write(`${lines.join('\n')}\n`);
  }

  #folderOf(path) {
    return join(LOGS, relative(process.cwd(), path));
  }
}
