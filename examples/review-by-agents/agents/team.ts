/** Starts a lead and its children, each a process of its own, and waits for the review. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Assignment } from './lead.js';

const HERE = import.meta.dirname;

export interface Team {
  /** Children by name. */
  reviewers: Map<string, ChildProcess>;
  /** Exit code and text of the review. */
  finished: Promise<{ code: number; review: string }>;
}

/**
 * @param absent children that are given a part, but aren't there
 * @param onLine each line that the lead reports
 */
export function startTeam(
  url: string,
  assignment: Assignment,
  onLine: (line: string) => void,
  absent: readonly string[] = [],
): Team {
  const { reviewers: names, leaseSeconds } = assignment;
  const present = names.filter((name) => !absent.includes(name));
  const reviewers = new Map(
    present.map((name) => [name, start('reviewer', [url, name, String(leaseSeconds)])]),
  );
  const lead = start('lead', [url, JSON.stringify(assignment)]);
  createInterface({ input: lead.stderr! }).on('line', onLine);
  return { reviewers, finished: finish(lead, [...reviewers.values()]) };
}

async function finish(lead: ChildProcess, reviewers: ChildProcess[]) {
  let review = '';
  lead.stdout!.setEncoding('utf8').on('data', (text: string) => (review += text));
  try {
    const [code] = (await once(lead, 'close')) as [number];
    return { code, review };
  } finally {
    // All have had a bye by now, unless the lead has failed.
    for (const child of reviewers) child.kill();
  }
}

function start(agent: 'lead' | 'reviewer', args: string[]): ChildProcess {
  const file = join(HERE, `${agent}.ts`);
  const options = {
    cwd: join(HERE, '..'),
    stdio: ['ignore', 'pipe', agent === 'lead' ? 'pipe' : 'inherit'] as const,
  };
  return spawn(process.execPath, ['--import', 'jiti/register', file, ...args], options as never);
}
