/** What a launcher writes down in the folder of a step's run. */
import { join } from 'node:path';
import { readJson } from './files.js';

/** How a step ended. */
export interface ExitRecord {
  /** None when a signal ended the step's shell. */
  exitCode?: number;
  signal?: string;
  /** Did the launcher end it, because its worker asked for that or went away? */
  stopped: boolean;
  /** ISO 8601, UTC. */
  endedAt: string;
}

/** PIDs: the launcher's own, and that of the step's shell, which leads the step's process group. */
export interface LauncherRecord {
  launcher: number;
  step: number;
}

/** How the step ended; undefined when that isn't written, or not whole. */
export function readExit(folder: string): Promise<ExitRecord | undefined> {
  return readJson(join(folder, 'exit.json'));
}

/** Undefined as long as the step wasn't started. */
export function readLauncher(folder: string): Promise<LauncherRecord | undefined> {
  return readJson(join(folder, 'launcher.json'));
}
