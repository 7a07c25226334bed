import { executeChild, proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import { cleanup, log } from 'longhaul/workflow';
import type { ToolInput } from 'longhaul';
import type * as activities from '../activities/chatter.js';
import type tool from '../tools/chatter.js';

const { speak, speakOddly, waitFor } = proxyActivities<typeof activities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '3s',
});
const { whisper } = proxyLocalActivities<typeof activities>({ startToCloseTimeout: '10s' });

export async function chatter(input: ToolInput<typeof tool>) {
  const { lines, speakers, pauseMs, wide } = input;
  log.info('the workflow begins', { lines });
  log.debug('a detail');
  if (input.odd) await speakOddly();
  const { workflowId } = workflowInfo();
  await Promise.all([
    ...Array.from({ length: speakers }, (_, speaker) => speak({ speaker, lines, pauseMs, wide })),
    ...(input.part === undefined
      ? []
      : [executeChild(chatter_part, { workflowId: `${workflowId}.${input.part}`, args: [lines] })]),
  ]);
  await whisper();
  if (input.gate) await waitFor(input.gate);
  log.warn('the workflow ends', { token: 'of the author', nested: { lines } });
  return { lines: lines * speakers };
}

export async function chatter_part(lines: number) {
  log.error('the part begins');
  await speak({ speaker: 0, lines, pauseMs: 0, wide: 0 });
}

export async function odd_workflow() {
  log.info('odd', { work: () => 1, big: 12n, error: new Error('of the author'), at: new Date() });
  const circle: Record<string, unknown> = { name: 'circle' };
  log.warn('round', Object.assign(circle, { self: circle, list: new Map([['key', 1]]) }));
  log.error('getter', {
    get broken(): never {
      throw new Error('no value');
    },
  });
  return {};
}

export async function quiet() {
  return {};
}

const { fail } = proxyActivities<typeof activities>({
  startToCloseTimeout: '1m',
  retry: { maximumAttempts: 2, initialInterval: '100ms' },
});

export async function failing() {
  cleanup(async () => log.info('cleaned up'));
  await fail();
}
