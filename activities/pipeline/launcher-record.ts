/** Records that a launcher writes into the folder of a step's run. */
import { join } from 'node:path';
import { readJson } from './files.js';

/** How a step ended. */
export interface ExitRecord {
  /** Missing when a signal ended the step's shell. */
  exitCode?: number;
  signal?: string;
  /** Whether the launcher ended it, on request of its worker or because the worker died. */
  stopped: boolean;
  /** ISO 8601, UTC. */
  endedAt: string;
}

/** PIDs: the launcher's own, and that of the step's shell, which leads the step's process group. */
export interface LauncherRecord {
  launcher: number;
  step: number;
}

/** How the step ended; undefined when the record is missing or incomplete. */
export function readExit(folder: string): Promise<ExitRecord | undefined> {
  return readJson(join(folder, 'exit.json'));
}

/** PIDs of launcher and step; undefined until the step was started. */
export function readLauncher(folder: string): Promise<LauncherRecord | undefined> {
  return readJson(join(folder, 'launcher.json'));
}
