import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';

export interface BlockedLoopInput {
  /** Activity to run. */
  activity: 'crunch' | 'neighbour' | 'late' | 'text';
  /** Folder of the test. */
  folder: string;
  ms?: number;
  heartbeatSeconds?: number;
}

/** Notes that the code of an attempt runs. */
function note({ activity, folder }: BlockedLoopInput): void {
  const { attempt } = Context.current().info;
  appendFileSync(join(folder, activity), `${process.pid} ${attempt}\n`);
}

function spinFor(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

/** Blocks the event loop. */
export async function crunch(input: BlockedLoopInput): Promise<void> {
  note(input);
  await delay(100);
  spinFor(input.ms!);
}

/** Works as it should until it is released. */
export async function neighbour(input: BlockedLoopInput): Promise<void> {
  note(input);
  while (!existsSync(join(input.folder, 'release'))) await delay(100);
}

/** Ends after its time-out, whatever Temporal wants. */
export async function late(input: BlockedLoopInput): Promise<void> {
  note(input);
  await delay(input.ms);
}

export async function text(bytes: number): Promise<string> {
  return 'x'.repeat(bytes);
}
