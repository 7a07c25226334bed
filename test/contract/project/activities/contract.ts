import { setTimeout as delay } from 'node:timers/promises';
import { cancellationSignal, report } from 'longhaul/activity';

export async function contract_report(): Promise<{ value: number }> {
  report({ progress: 1, total: 1, message: 'reported' });
  return { value: 42 };
}

export async function contract_wait(): Promise<void> {
  const signal = cancellationSignal();
  for (;;) {
    report({ progress: 4, total: 10, message: 'four' });
    await delay(200, undefined, { signal });
  }
}
