import { condition } from '@temporalio/workflow';
import { partial } from 'longhaul/workflow';

export async function held() {
  partial({ text: 'x'.repeat(300_000) });
  await condition(() => false);
}
