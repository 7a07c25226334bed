/** A Nexus service: operations that answer at once, that fail, and that are a workflow. */
import { startWorkflow, WorkflowRunOperationHandler } from '@temporalio/nexus';
import * as nexus from 'nexus-rpc';

const desk = nexus.service('desk', {
  greet: nexus.operation<{ name: string }, string>(),
  refuse: nexus.operation<{ why: string }, never>(),
  review: nexus.operation<{ names: string[] }, Record<string, string>>(),
  list_tools: nexus.operation<null, { tools: object[] }>(),
});

const text = { type: 'string' };
const schema = (properties: object, ...required: string[]) => ({
  inputSchema: { type: 'object', properties, required },
});
/** As the handlers of Temporal's agent harness list them. */
const TOOLS = [
  {
    ...{
      name: 'desk_greet',
      title: null,
      description: 'Greets somebody.',
      annotations: { readOnlyHint: true },
    },
    ...schema({ name: text }, 'name'),
  },
  { name: 'desk_review', description: null, ...schema({ names: { type: 'array', items: text } }, 'names') },
  { name: 'desk_refuse', ...schema({ wait: text }) },
];

/** @param taskQueue of the workflows that operations start */
export function deskHandler(taskQueue: string): nexus.ServiceHandler<never> {
  return nexus.serviceHandler(desk, {
    list_tools: () => Promise.resolve({ tools: TOOLS }),
    greet: (_context, { name }) => Promise.resolve(`Hello, ${name}!`),
    refuse: (_context, { why }) => Promise.reject(new nexus.OperationError('failed', why)),
    review: new WorkflowRunOperationHandler(async (context, { names }) =>
      startWorkflow(context, 'Reviews', {
        workflowId: `review-${names.join('-')}`,
        taskQueue,
        args: [names],
      }),
    ),
  }) as never;
}
