/** What the worker of a project couldn't take up, in a file of the home, for the servers on it to show. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Settings } from './config.js';
import { unfinishedPath } from './unfinished-files.js';

/** Writes the worker's problems, a line each; none take away those of before. */
export function writeWorkerProblems(settings: Settings, problems: string[]): void {
  const path = pathOf(settings);
  const unfinished = unfinishedPath(path);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(unfinished, JSON.stringify(problems));
  renameSync(unfinished, path);
}

/** Those of the worker that was here last; none on a host without one. */
export function workerProblems(settings: Settings): string[] {
  try {
    return JSON.parse(readFileSync(pathOf(settings), 'utf8')) as string[];
  } catch {
    return [];
  }
}

function pathOf({ home, project, taskQueue }: Settings): string {
  const digest = createHash('sha256').update(`${project}\n${taskQueue}`).digest('hex').slice(0, 16);
  return join(home, 'cache', `problems-${digest}.json`);
}
