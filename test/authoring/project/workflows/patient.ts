import { sleep } from '@temporalio/workflow';
import { partial, requestInput } from 'longhaul/workflow';

export async function patient(input: { seconds: number }) {
  await requestInput({ type: 'object', properties: { go: { type: 'boolean' } } }, 'Continue?');
  partial({ answered: true });
  await sleep(input.seconds * 1000);
  return { done: true };
}
