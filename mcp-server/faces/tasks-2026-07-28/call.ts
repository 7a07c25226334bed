/** What a call of a tool becomes for clients that have tasks. */
import type { Result } from '@modelcontextprotocol/server';
import type { Engine } from '../../../engine/index.js';
import type { Tool } from '../../../operations/tool.js';
import { renderCreated } from './render.js';

/**
 * Starts the work, and gives the task that it is (specs: ext-tasks, "Creating Tasks").
 *
 * @param elicitation can the client show questions?
 * @throws LonghaulError as the engine's start does
 */
export async function startTask(
  engine: Engine,
  principal: string,
  tool: Tool,
  args: Record<string, unknown>,
  elicitation: boolean,
): Promise<Result> {
  const record = await engine.start(principal, tool.name, args);
  return { ...renderCreated(record, { elicitation, tool }) };
}
