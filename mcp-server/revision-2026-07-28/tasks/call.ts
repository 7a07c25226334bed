/** What a call of a tool becomes for clients that have tasks. */
import type { Result } from '@modelcontextprotocol/server';
import type { Engine } from '../../../engine/index.js';
import type { Tool } from '../../../operations/tool.js';
import { takeIdempotencyKey } from '../../shared/idempotency-key.js';
import { renderCreated } from './render.js';

/**
 * Starts the work, and gives the task that it is (specs: ext-tasks, "Creating Tasks").
 *
 * @param elicitation can the client show questions?
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
    tool,
    args,
    idempotencyKey === undefined ? {} : { idempotencyKey },
  );
  return { ...renderCreated(record, { elicitation, tool }) };
}
