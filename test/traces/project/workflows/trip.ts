import {
  ApplicationFailure,
  continueAsNew,
  executeChild,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow';
import { requestInput } from 'longhaul/workflow';
import type { ToolInput, ToolOutput } from 'longhaul';
import type * as activities from '../activities/trip.js';
import type tool from '../tools/trip.js';
import { confirm } from '../tools/trip.js';

const retry = { initialInterval: '100ms', backoffCoefficient: 1 };
const { drive } = proxyActivities<typeof activities>({ startToCloseTimeout: '1m', retry });
const { pack } = proxyLocalActivities<typeof activities>({ startToCloseTimeout: '1m' });

export async function trip(input: ToolInput<typeof tool>): Promise<ToolOutput<typeof tool>> {
  if (input.asks) await requestInput(confirm, 'Go?');
  if (input.breaks) throw ApplicationFailure.nonRetryable('the car broke down', 'Breakdown');
  if (input.leg === 1) {
    await pack(input.luggage);
    await drive(input.luggage);
    await executeChild(walk, { workflowId: `${workflowInfo().workflowId}.walk`, args: [input.luggage] });
    await continueAsNew<typeof trip>({ ...input, asks: false, leg: 2 });
  }
  return { legs: input.leg, luggage: input.luggage };
}

export async function walk(luggage: string): Promise<void> {
  await pack(luggage);
}
