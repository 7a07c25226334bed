/** Problems of a project's worker, stored in the home so that servers can show them. */
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Settings } from './settings/index.js';
import { projectCacheFile } from './project.js';
import { writeFileAtomically } from './atomic-files.js';

/** Replaces the stored problems, a line each. An empty list clears them. */
export function writeWorkerProblems(settings: Settings, problems: string[]): void {
  const path = pathOf(settings);
  mkdirSync(dirname(path), { recursive: true });
  writeFileAtomically(path, JSON.stringify(problems));
}

/** Problems of the last worker on this host; empty on a host without one. */
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
