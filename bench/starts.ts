/**
 * CPU and wall time of starts: `longhaul --version`, a server and a worker, each until it says that it is ready. The bundle
 * that runs (`dist/bin`) is compared with the same modules loaded one by one (`dist/cli/main.js`), in turn.
 *
 *     node --import jiti/register bench/starts.ts [--node PATH]
 *
 * `--node` names another Node.js, e.g. of the npm package `node@24`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../test/stack/cli-process.js';
import { cpuMs, printTable, quantile, shortened, withStack } from './support.js';

const RUNS = shortened(15, 2);
const PROGRAMS = { bundle: 'dist/bin/longhaul.js', modules: 'dist/cli/main.js' };
const COMMANDS = ['--version', 'server', 'worker'];

const { node } = parseArgs({
  options: { node: { type: 'string', default: process.execPath }, short: { type: 'boolean' } },
}).values;

interface Start {
  wallMs: number;
  /** Undefined for a process that has ended by itself. */
  cpuMs?: number;
}

/** Wall time of Node.js itself, in milliseconds. */
async function startNode(): Promise<number> {
  const from = performance.now();
  await once(spawn(node, ['-e', '0'], { stdio: 'ignore' }), 'exit');
  return performance.now() - from;
}

async function start(program: string, command: string, environment: NodeJS.ProcessEnv): Promise<Start> {
  const from = performance.now();
  const child = spawn(node, [resolve(program), command], {
    env: { ...process.env, NODE_OPTIONS: '', ...environment },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const ended = once(child, 'exit');
  if (command === '--version') {
    await ended;
    return { wallMs: performance.now() - from };
  }
  // Sent once the part is ready (stack/foreground.ts).
  await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => Promise.reject(new Error(`${program} ${command} ended with ${code}`))),
  ]);
  const measured = { wallMs: performance.now() - from, cpuMs: cpuMs(child.pid!) };
  child.kill('SIGKILL');
  await ended;
  return measured;
}

await withStack(async ({ home, temporalAddress }) => {
  const starts = new Map<string, Start[]>();
  const nodeMs: number[] = [];
  for (let run = 0; run <= RUNS; run++) {
    nodeMs.push(await startNode());
    for (const command of COMMANDS)
      for (const [name, program] of Object.entries(PROGRAMS)) {
        const environment = {
          TEMPORAL_ADDRESS: temporalAddress,
          LONGHAUL_HOME: home.path,
          LONGHAUL_PORT: String(await freePort()),
          LONGHAUL_TASK_QUEUE: 'starts',
          LONGHAUL_WORKER_VERSIONING: 'false',
          LONGHAUL_PROJECT: resolve('bench/project'),
        };
        const measured = await start(program, command, environment);
        // The first run fills caches.
        if (run > 0)
          starts.set(`${command} ${name}`, [...(starts.get(`${command} ${name}`) ?? []), measured]);
      }
  }
  const p50 = (key: string, field: keyof Start) => {
    const values = (starts.get(key) ?? []).flatMap((one) => one[field] ?? []);
    return values.length > 0 ? quantile(values, 0.5) : undefined;
  };
  const cells = (command: string, field: keyof Start) => {
    const [bundle, modules] = Object.keys(PROGRAMS).map((name) => p50(`${command} ${name}`, field));
    if (bundle === undefined || modules === undefined) return ['', '', ''];
    return [`${bundle.toFixed(0)} ms`, `${modules.toFixed(0)} ms`, (bundle / modules).toFixed(2)];
  };
  printTable(
    [`${RUNS} starts, p50`, 'CPU, bundle', 'CPU, modules', 'ratio', 'wall, bundle', 'wall, modules', 'ratio'],
    COMMANDS.map((command) => [
      `longhaul ${command}`,
      ...cells(command, 'cpuMs'),
      ...cells(command, 'wallMs'),
    ]),
  );
  console.log(`\nNode.js itself (\`-e 0\`): ${quantile(nodeMs, 0.5).toFixed(0)} ms of wall time`);
});
