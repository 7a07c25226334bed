/**
 * Temporal's cancel request to this run. The root scope doesn't show it, because the deadline cancels that scope too, before the request.
 */
import type { WorkflowInterceptors } from '@temporalio/workflow';

type Activate = NonNullable<NonNullable<WorkflowInterceptors['internals']>[number]['activate']>;

let hasCome = false;

/** Whether Temporal has accepted a cancel request: the operation can then only end canceled. */
export function isCancelRequested(): boolean {
  return hasCome;
}

export const noteCancelRequest: Activate = (input, next) => {
  hasCome ||= input.activation.jobs?.some(({ cancelWorkflow }) => cancelWorkflow) ?? false;
  next(input);
};
