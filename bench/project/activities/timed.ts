import { setTimeout as sleep } from 'node:timers/promises';

export async function takeTimedHalfSecond() {
  const begunAt = Date.now();
  await sleep(500);
  return { begunAt };
}
