/**
 * `npm run dev`: `longhaul up` on this clone. A change of a source is compiled, then server and worker are restarted; Temporal,
 * its operations and `longhaul up` itself stay. Settings come from the environment and longhaul.config.json. Changes of
 * stack/ and cli/ need a restart of `npm run dev`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import ts from 'typescript';

const CONFIG = 'tsconfig.build.json';
/** Status of a compilation in watch mode that has ended: with one error, with any other number. */
const COMPILED = [6193, 6194];

let hasEmitted = false;
let isEnding = false;
/** Restarts, one after the other. */
let restarts = Promise.resolve();
/** @type {import('node:child_process').ChildProcess | undefined} */
let stack;

const run = (...args) => spawn(process.execPath, args, { stdio: 'inherit' });

async function restart() {
  if (isEnding) return;
  const [code] = await once(run('dist/worker/build-bundle.js'), 'exit');
  if (code !== 0 || isEnding) return;
  if (!stack) {
    stack = run('dist/cli/main.js', 'up');
    stack.once('exit', (exitCode) => process.exit(exitCode ?? 1));
    return;
  }
  const { loadSettings } = await import('./dist/platform/config.js');
  const { readStackState } = await import('./dist/platform/temporal-address.js');
  const { serverPid, workerPid } = readStackState((await loadSettings()).home);
  for (const pid of [serverPid, workerPid]) {
    try {
      // `longhaul up` starts it again.
      if (pid) process.kill(pid, 'SIGTERM');
    } catch {
      // It has just ended.
    }
  }
}

const format = {
  getCanonicalFileName: (path) => path,
  getCurrentDirectory: ts.sys.getCurrentDirectory,
  getNewLine: () => '\n',
};
const system = {
  ...ts.sys,
  writeFile(path, ...rest) {
    hasEmitted ||= path.endsWith('.js');
    ts.sys.writeFile(path, ...rest);
  },
};
const host = ts.createWatchCompilerHost(
  CONFIG,
  undefined,
  system,
  ts.createEmitAndSemanticDiagnosticsBuilderProgram,
  (problem) => process.stderr.write(ts.formatDiagnosticsWithColorAndContext([problem], format)),
  ({ code }, _newLine, _options, errorCount) => {
    if (!COMPILED.includes(code) || errorCount !== 0 || (stack && !hasEmitted)) return;
    hasEmitted = false;
    restarts = restarts.then(restart);
  },
);
const watch = ts.createWatchProgram(host);

function end(signal) {
  isEnding = true;
  watch.close();
  // The stack ends by itself and takes this process along; without one there is nothing to wait for.
  if (stack) stack.kill(signal);
  else process.exit(130);
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(signal));
