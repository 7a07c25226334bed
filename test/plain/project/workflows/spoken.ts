import { ApplicationFailure } from '@temporalio/workflow';
import { partial } from 'longhaul/workflow';

export async function spoken({ text, fails }: { text: string; fails: boolean }) {
  if (!fails) return { text };
  partial({ text });
  throw ApplicationFailure.nonRetryable(`it went wrong\n${text}`, 'Spoken');
}
