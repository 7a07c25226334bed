import {
  ChildWorkflowFailure,
  executeChild,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow';
import { partial, requestInput, stage } from 'longhaul/workflow';
import type { ToolInput, ToolOutput } from 'longhaul';
import type * as activities from '../activities/survey.js';
import type tool from '../tools/survey.js';
import { confirm } from '../tools/survey.js';

type Input = ToolInput<typeof tool>;
type Part = Input['parts'][number];

const { walk } = proxyActivities<typeof activities>({
  startToCloseTimeout: '1h',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '1s', backoffCoefficient: 1 },
});
const local = proxyLocalActivities<typeof activities>({ startToCloseTimeout: '1m' });

export async function survey({ parts, keepFailed, inTurn }: Input): Promise<ToolOutput<typeof tool>> {
  const run = async (part: Part) => {
    try {
      return await executeChild(survey_part, {
        workflowId: `${workflowInfo().workflowId}.${part.name}`,
        args: [part],
      });
    } catch (failure) {
      if (!keepFailed || !(failure instanceof ChildWorkflowFailure)) throw failure;
      return `failed: ${failure.cause?.message}`;
    }
  };
  if (!inTurn) return { done: await Promise.all(parts.map(run)) };
  const done: string[] = [];
  for (const part of parts) done.push(await run(part));
  return { done };
}

export async function survey_part(part: Part): Promise<string> {
  stage(`surveying ${part.name}`);
  if (part.inner !== undefined) {
    const { inner, ...rest } = part;
    const workflowId = `${workflowInfo().workflowId}.${inner}`;
    return executeChild(survey_part, { workflowId, args: [{ ...rest, name: inner }] });
  }
  if (part.asks) {
    const answer = await requestInput(confirm, `Is ${part.name} sure?`);
    return `${part.name}: ${answer.action === 'accept' ? answer.content.sure : 'declined'}`;
  }
  if (part.asksForSeconds !== undefined) {
    const answer = await requestInput(confirm, `Is ${part.name} sure?`, {
      timeoutSeconds: part.asksForSeconds,
      default: { sure: false },
    });
    const isSure = answer.action === 'accept' && answer.content.sure;
    return `${await walk(part.name, part.gate)}, ${isSure ? 'sure' : 'not sure'}`;
  }
  partial({ name: part.name });
  return part.local ? local.jot(part.name) : walk(part.name, part.gate);
}
