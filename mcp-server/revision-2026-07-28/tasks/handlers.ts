/** Task handlers: calls that become tasks, tasks/get, tasks/update and tasks/cancel. */
import type { Result, Server, ServerContext } from '@modelcontextprotocol/server';
import type { Guard } from '../../guard.js';
import { LonghaulError } from '../../../operations/errors.js';
import { ANSWERS_META_KEY, type AnswerOutcome } from '../../../operations/wire/meta-keys.js';
import type { Tool } from '../../../operations/tool/index.js';
import { takeIdempotencyKey } from '../../call/idempotency-key.js';
import { missingTasksCapability, renderCreated, renderDetailed, renderError } from './render.js';
import { elicitResult } from '../../call/elicitation.js';
import { anyResult, capabilitiesOf, taskParams, type DeclaredCapabilities } from './schemas.js';

/**
 * Starts the operation and returns its task (specs: ext-tasks, "Task Creation").
 *
 * @param elicitation whether the client can show questions
 * @throws LonghaulError as the engine's start does, and as {@link takeIdempotencyKey}
 */
export async function startTask(
  engine: Guard,
  tool: Tool,
  given: Record<string, unknown>,
  elicitation: boolean,
): Promise<Result> {
  const { args, ...key } = takeIdempotencyKey(given);
  const record = await engine.start(tool, args, key);
  return { ...renderCreated(record, { elicitation, tool }) };
}

export function registerTasks(server: Server, engine: Guard): void {
  const tasksMethod = (method: string, handle: (taskId: string, context: ServerContext) => Promise<Result>) =>
    server.setRequestHandler(method, { params: taskParams, result: anyResult }, ({ taskId }, context) =>
      asTasksResult(capabilitiesOf(context.mcpReq.envelope), () => handle(taskId, context)),
    );

  server.setRequestHandler('tasks/get', { params: taskParams, result: anyResult }, ({ taskId }, context) =>
    getTask(engine, taskId, capabilitiesOf(context.mcpReq.envelope)),
  );
  tasksMethod('tasks/update', async (taskId, { mcpReq }) => {
    // The SDK lifts this field out of every method's params.
    if (!mcpReq.inputResponses) {
      throw new LonghaulError(
        'invalid_arguments',
        'params.inputResponses: expected an object of key -> answer; got nothing',
      );
    }
    const outcomes = await answerAll(engine, taskId, mcpReq.inputResponses);
    return outcomes.length > 0 ? { _meta: { [ANSWERS_META_KEY]: outcomes } } : {};
  });
  tasksMethod('tasks/cancel', async (taskId) => {
    await engine.cancel(taskId);
    return {};
  });
}

/** @throws ProtocolError */
export function getTask(engine: Guard, taskId: string, client: DeclaredCapabilities): Promise<Result> {
  return asTasksResult(client, async () => {
    const record = await engine.read(taskId);
    const { elicitation } = client;
    return { ...renderDetailed(record, { elicitation, tool: engine.tools.get(record.tool) }) };
  });
}

/** Clients that don't declare the extension get -32021 before any other error. @throws ProtocolError */
async function asTasksResult(
  { tasks }: DeclaredCapabilities,
  handle: () => Promise<Result>,
): Promise<Result> {
  if (!tasks) throw missingTasksCapability();
  try {
    return { resultType: 'complete', ...(await handle()) };
  } catch (error) {
    throw renderError(error);
  }
}

/** Hands over all answers, then reports invalid ones. Ignores unknown keys (specs: ext-tasks, "Task Update Requests"). */
async function answerAll(
  engine: Guard,
  token: string,
  responses: Record<string, unknown>,
): Promise<AnswerOutcome[]> {
  const { inputRequests, answers = [] } = await engine.read(token);
  const outcomes: AnswerOutcome[] = [];
  const problems: string[] = [];
  for (const [key, response] of Object.entries(responses)) {
    if (!(key in inputRequests) && !answers.some((answered) => answered.key === key)) continue;
    const answer = elicitResult.safeParse(response);
    if (!answer.success) {
      problems.push(
        `inputResponses.${key}: expected {action: accept | decline | cancel, content}; got ${JSON.stringify(response)}`,
      );
      continue;
    }
    try {
      const { id, state } = await engine.answer(token, key, answer.data);
      outcomes.push({ key, id, state: state === 'accepted' ? 'applied' : state });
    } catch (error) {
      if (!(error instanceof LonghaulError)) throw error;
      if (error.kind === 'invalid_answer') problems.push(`inputResponses.${key}: ${error.message}`);
      // A late answer is acknowledged too.
      else if (error.kind === 'wrong_state') outcomes.push({ key, state: 'refused', reason: error.message });
      else throw error;
    }
  }
  if (problems.length) throw new LonghaulError('invalid_answer', problems.join('\n'));
  return outcomes;
}
