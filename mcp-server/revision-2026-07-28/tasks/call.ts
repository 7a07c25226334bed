/** tools/call for clients with the tasks extension. */
import type { Result } from '@modelcontextprotocol/server';
import type { Engine } from '../../../engine/index.js';
import type { Tool } from '../../../operations/tool.js';
import { takeIdempotencyKey } from '../../shared/idempotency-key.js';
import { renderCreated } from './render.js';

/**
 * Starts the operation and returns its task (specs: ext-tasks, "Task Creation").
 *
 * @param elicitation whether the client can show questions
 * @throws LonghaulError as the engine's start does, and as {@link takeIdempotencyKey}
 */
export async function startTask(
  engine: Engine,
  principal: string,
  tool: Tool,
  given: Record<string, unknown>,
  elicitation: boolean,
): Promise<Result> {
  const { args, idempotencyKey } = takeIdempotencyKey(given);
  const record = await engine.start(
    principal,
    tool.name,
    args,
    idempotencyKey === undefined ? {} : { idempotencyKey },
  );
  return { ...renderCreated(record, { elicitation, tool }) };
}
