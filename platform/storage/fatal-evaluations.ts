/** Evaluations of workflow code that ended their thread or worker. All workers of a queue, and the server, see them here. */
import { dirname } from 'node:path';
import { fatalPrefix } from './keys.js';
import type { Storage, StoredValue } from './types.js';

/** How long a run's code isn't run after it has ended a thread or worker again, in milliseconds. */
export const QUARANTINE_MS = 600_000;
const QUARANTINED_FROM = 2;
/** Ends the key of an evaluation that is running, or was when its worker ended. */
export const OPEN = '.open';
/** A worker writes the record of a running evaluation every second. One of this age, in milliseconds, has ended its worker. */
const OPEN_MS = 8_000;

export interface FatalEvaluation {
  workflow: string;
  /** Path within the project. */
  file?: string | undefined;
  reason: string;
}

export function isFatal({ key, changedAt }: StoredValue): boolean {
  return !key.endsWith(OPEN) || changedAt.getTime() < Date.now() - OPEN_MS;
}

/** When a run's quarantine ends; undefined without one. */
export function quarantinedUntil(ends: readonly Pick<StoredValue, 'changedAt'>[]): Date | undefined {
  if (ends.length < QUARANTINED_FROM) return undefined;
  const untilMs = Math.max(...ends.map(({ changedAt }) => changedAt.getTime())) + QUARANTINE_MS;
  return untilMs > Date.now() ? new Date(untilMs) : undefined;
}

/** The harm that a run's code did to its thread or worker, in one line; undefined if it did nothing. @param code default: the latest */
export async function describeFatal(
  storage: Storage,
  run: { runId: string; code?: string },
): Promise<string | undefined> {
  const all: StoredValue[] = [];
  for await (const end of storage.list(fatalPrefix(run))) if (isFatal(end)) all.push(end);
  const [latest] = all.sort((one, other) => other.changedAt.getTime() - one.changedAt.getTime());
  if (!latest) return undefined;
  const ends = all.filter(({ key }) => dirname(key) === dirname(latest.key));
  const line = fatalLine(JSON.parse((await storage.read(latest.key)).toString()) as FatalEvaluation);
  const until = quarantinedUntil(ends);
  if (!until) return line;
  return (
    `${line}, ${ends.length} times now: no worker runs its code before ` +
    `${until.toISOString().slice(11, 16)} UTC. Correct it, or end the operation with longhaul cancel --force`
  );
}

export function fatalLine({ workflow, file, reason }: FatalEvaluation): string {
  return `workflow ${workflow}${file === undefined ? '' : ` (${file})`} ${reason}`;
}
