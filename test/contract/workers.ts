/** Workers in other languages: the examples in examples/runtime-contract, installed once. */
import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { globSync } from 'tinyglobby';
import { eventually } from '../stack/cli-process.js';
import { cacheFolder, INSTALL_LIMIT_MS, installOnce } from '../support/install-once.js';
import { installVenv } from '../support/python.js';

const run = promisify(execFile);
const EXAMPLES = resolve('examples/runtime-contract');
export const PYTHON = join(EXAMPLES, 'python');

/** No compiled files beside the sources. */
const ENVIRONMENT = {
  ...process.env,
  PYTHONPATH: PYTHON,
  PYTHONPYCACHEPREFIX: join(cacheFolder(), 'pycache'),
};

export interface RunningWorker {
  taskQueue: string;
  stop(): Promise<void>;
}

/** @param args of Python's interpreter */
export async function python(...args: string[]): Promise<string> {
  const bin = await installPython();
  const { stdout, stderr } = await run(join(bin, 'python'), args, { env: ENVIRONMENT, cwd: PYTHON });
  return stdout + stderr;
}

/** @returns folder of the executables of the library's environment */
export function installPython(): Promise<string> {
  return installVenv('contract-python', join(PYTHON, 'requirements.txt'));
}

/** @param script a worker, with the defect that it is to have */
export async function startPython(script: string, ...defect: string[]): Promise<RunningWorker> {
  const bin = await installPython();
  return start(join(bin, 'python'), (place) => [resolve(PYTHON, script), ...place, ...defect]);
}

export async function startGo(): Promise<RunningWorker> {
  const built = await buildGo();
  return start(join(built, 'contractworker'), (place) => place);
}

/** The example's unit tests have passed for these sources. @returns folder of the worker */
export function buildGo(): Promise<string> {
  const folder = join(EXAMPLES, 'go');
  const inputs = globSync(['*.go', 'contractworker/*.go', 'go.mod', 'go.sum'], {
    cwd: folder,
    absolute: true,
  });
  const cases = resolve('docs/runtime-contract/answers.json');
  return installOnce('contract-go', [...inputs.sort(), cases], async (target) => {
    const limits = { cwd: folder, timeout: INSTALL_LIMIT_MS };
    await run('go', ['test', '.'], limits);
    await run('go', ['build', '-o', join(target, 'contractworker'), './contractworker'], limits);
  });
}

/** Starts a worker on a task queue of its own, and waits until it polls. */
async function start(command: string, args: (place: string[]) => string[]): Promise<RunningWorker> {
  const taskQueue = `contract-${randomUUID()}`;
  const child = spawn(command, args([process.env['TEMPORAL_ADDRESS']!, taskQueue]), {
    env: ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const closed = new Promise<void>((settle) => child.once('close', () => settle()));
  const stop = async () => {
    child.kill();
    await closed;
  };
  try {
    await eventually(
      () => `the worker is ready: ${output.slice(-2_000)}`,
      () => {
        if (child.exitCode !== null) throw new Error(`the worker ended: ${output}`);
        return output.includes('ready');
      },
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return { taskQueue, stop };
}
