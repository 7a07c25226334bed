import { existsSync } from 'node:fs';
import { activityInfo } from '@temporalio/activity';
import { setTimeout as delay } from 'node:timers/promises';
import { log } from 'longhaul/activity';

export async function speak({
  speaker,
  lines,
  pauseMs,
  wide,
}: {
  speaker: number;
  lines: number;
  pauseMs: number;
  wide: number;
}): Promise<void> {
  for (let line = 1; line <= lines; line += 1) {
    log.info(`line ${line}${'x'.repeat(wide)}`, { speaker, process: process.pid });
    if (pauseMs > 0) await delay(pauseMs);
  }
}

export async function whisper(): Promise<void> {
  log.debug('psst');
}

export async function speakOddly(): Promise<void> {
  const circle: Record<string, unknown> = { name: 'circle' };
  circle['self'] = circle;
  log.info('first\nsecond', { big: 12n, error: new Error('of the author'), work: () => 1 });
  log.info('round', circle);
  log.info({ not: 'a text' } as never);
  log.info('getter', {
    get broken(): never {
      throw new Error('no value');
    },
  });
}

export async function waitFor(path: string): Promise<void> {
  while (!existsSync(path)) await delay(100);
}

export async function fail(): Promise<void> {
  throw new Error(`attempt ${activityInfo().attempt}`);
}
