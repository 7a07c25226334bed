/** The property: no sequence of calls contradicts the model. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { ProtocolClient } from '../support/protocols/index.js';
import type { TestStack } from '../support/test-stack.js';
import type { Model } from './actions.js';
import { commands, settle, type Real, type WorkerControl } from './commands.js';

interface Options {
  stack: TestStack;
  clients: ProtocolClient[];
  /** The stack's own worker. Default: sequences do not stop it */
  worker?: WorkerControl;
  /** Numbers of calls, which grow as the property runs. */
  counts?: Record<string, number>;
}

export function fitsModel({
  stack,
  clients,
  worker,
  counts = {},
}: Options): fc.IAsyncPropertyWithHooks<[Iterable<fc.AsyncCommand<Model, Real, false>>]> {
  const signal: Real['signal'] = async (token, input) => {
    const { workflow } = await stack.temporal();
    await workflow
      .getHandle(token)
      .signal('provide_input', ...(input === undefined ? [] : [input]))
      .catch((error: unknown) => {
        // It has closed.
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      });
  };
  return fc.asyncProperty(commands, async (sequence) => {
    const model: Model = { prefix: randomUUID(), operations: [], stopsLeft: worker ? 1 : 0 };
    const real: Real = { clients, counts, signal, ...(worker ? { worker } : {}) };
    await fc.asyncModelRun(() => ({ model, real }), sequence);
    await settle(model, real);
  });
}
