/** The property: no sequence of calls contradicts the model. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { ProtocolClient } from '../support/protocols/index.js';
import type { Model } from './actions.js';
import { commands, settle, type Real } from './commands.js';

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
