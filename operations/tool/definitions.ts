/** Typed definitions of queries, updates and signals, like Temporal's functions of these names: only workflows can load their package. */
import type { QueryDefinition, SignalDefinition, UpdateDefinition } from '@temporalio/common';

export const defineQuery = <Result, Args extends unknown[] = []>(name: string) =>
  ({ type: 'query', name }) as QueryDefinition<Result, Args>;
export const defineUpdate = <Result, Args extends unknown[] = []>(name: string) =>
  ({ type: 'update', name }) as UpdateDefinition<Result, Args>;
export const defineSignal = <Args extends unknown[] = []>(name: string) =>
  ({ type: 'signal', name }) as SignalDefinition<Args>;
