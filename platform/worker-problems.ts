/** What the worker of a project couldn't take up, in a file of the home, for the servers on it to show. */
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Settings } from './config.js';
import { projectCacheFile } from './project.js';
import { writeFileAtomically } from './atomic-files.js';

/** Writes the worker's problems, a line each; none take away those of before. */
export function writeWorkerProblems(settings: Settings, problems: string[]): void {
  const path = pathOf(settings);
  mkdirSync(dirname(path), { recursive: true });
  writeFileAtomically(path, JSON.stringify(problems));
}

/** Those of the worker that was here last; none on a host without one. */
export function workerProblems(settings: Settings): string[] {
  try {
    return JSON.parse(readFileSync(pathOf(settings), 'utf8')) as string[];
  } catch {
    return [];
  }
}

function pathOf(settings: Settings): string {
  return projectCacheFile(settings, 'problems');
}
