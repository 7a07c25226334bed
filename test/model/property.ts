/** The property: no sequence of calls contradicts the model. */
import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import type { ProtocolClient } from '../support/protocols/index.js';
import type { Model } from './actions.js';
import { commands, settle, type Real } from './commands.js';

const project = resolve('test/model/project');
/** Settings of a stack with the tools that the commands start. */
export const PROJECT = {
  LONGHAUL_PROJECT: project,
  LONGHAUL_PIPELINE_FOLDERS: join(project, 'pipelines'),
};

/** @param counts of calls, which grow as the property runs */
export function fitsModel(
  clients: ProtocolClient[],
  counts: Record<string, number> = {},
): fc.IAsyncPropertyWithHooks<[Iterable<fc.AsyncCommand<Model, Real, false>>]> {
  return fc.asyncProperty(commands, async (sequence) => {
    const model: Model = { prefix: randomUUID(), operations: [] };
    const real: Real = { clients, counts };
    await fc.asyncModelRun(() => ({ model, real }), sequence);
    await settle(model, real);
  });
}
