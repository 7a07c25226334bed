import { setTimeout as sleep } from 'node:timers/promises';

export async function takeHalfASecond() {
  await sleep(500);
  return { done: true };
}
