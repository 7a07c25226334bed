/**
 * `npm run dev`: `longhaul up` on this clone. A change of a source is compiled, then server and worker are restarted; Temporal,
 * its operations and `longhaul up` itself stay. Settings come from the environment and longhaul.config.json. Changes of
 * stack/ and cli/ need a restart of `npm run dev`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const TSC = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));

let isEnding = false;
/** @type {import('node:child_process').ChildProcess | undefined} */
let stack;

const run = (...args) => spawn(process.execPath, args, { stdio: 'inherit' });

async function restart() {
  for (const step of ['build-program.js', 'dist/worker/versions/build-bundle.js']) {
    const [code] = await once(run(step), 'exit');
    if (code !== 0 || isEnding) return;
  }
  if (!stack) {
    stack = run('dist/bin/longhaul.js', 'up');
    stack.once('exit', (exitCode) => process.exit(exitCode ?? 1));
    return;
  }
  const { loadSettings } = await import('./dist/platform/settings/index.js');
  const { signalProcess } = await import('./dist/platform/home/process-identity.js');
  const { readStackState } = await import('./dist/platform/temporal/address.js');
  const { serverPid, workerPid } = readStackState((await loadSettings()).home);
  // `longhaul up` starts them again.
  for (const pid of [serverPid, workerPid]) if (pid) signalProcess(pid, 'SIGTERM');
}

const compiler = spawn(
  process.execPath,
  [TSC, '--project', 'tsconfig.build.json', '--watch', '--preserveWatchOutput'],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);

function end(signal) {
  isEnding = true;
  compiler.kill();
  // The stack ends by itself and takes this process along; without one there is nothing to wait for.
  if (stack) stack.kill(signal);
  else process.exit(130);
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(signal));

for await (const line of createInterface({ input: compiler.stdout })) {
  console.log(line);
  if (line.includes('Found 0 errors') && !isEnding) await restart();
}
