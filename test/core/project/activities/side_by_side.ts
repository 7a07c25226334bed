import { setTimeout as delay } from 'node:timers/promises';

const running = { activities: 0, localActivities: 0 };

/** Takes a slot for 300 ms; returns how many of the kind this worker runs as it starts. */
export async function takeSlot(kind: keyof typeof running): Promise<number> {
  running[kind] += 1;
  const atOnce = running[kind];
  await delay(300);
  running[kind] -= 1;
  return atOnce;
}
