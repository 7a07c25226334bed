/** Projects whose tools are YAML files over external workflows, and a worker without Longhaul for them. */
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { keepOutput } from '../support/process-log.js';
import { inheritedEnvironment } from '../support/run-temporal.js';
import { writeFiles } from '../support/write-files.js';

/** A folder with these files in `tools/`, which ends with the machine's temporary files. */
export function projectOf(tools: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-external-'));
  writeFiles(join(folder, 'tools'), tools);
  return folder;
}

export interface OddWorker {
  output(): string;
  signal(name: NodeJS.Signals): void;
  kill(): Promise<void>;
}

/** Starts test/external-workflows/odd/worker.ts. */
export async function startOddWorker(
  taskQueue: string,
  namespace = 'default',
  ...flags: 'codec'[]
): Promise<OddWorker> {
  const script = resolve('test/external-workflows/odd/worker.ts');
  const child = spawn(
    process.execPath,
    ['--import', 'jiti/register', script, taskQueue, namespace, ...flags],
    {
      env: { ...inheritedEnvironment({}), NODE_OPTIONS: '' },
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  );
  keepOutput(child, 'odd-worker');
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<void>((settle) => child.once('close', () => settle()));
  await eventually(
    () => `the worker is ready; ${output}`,
    () => {
      if (child.exitCode !== null) throw new Error(`the worker ended: ${output}`);
      return output.includes('ready');
    },
    PROCESSES_MS,
  );
  return {
    output: () => output,
    signal: (name) => child.kill(name),
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
