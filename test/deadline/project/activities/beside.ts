import { setTimeout as delay } from 'node:timers/promises';
import { cancellationSignal } from 'longhaul/activity';

export async function pass(seconds: number): Promise<void> {
  await delay(seconds * 1000, undefined, { signal: cancellationSignal() });
}
