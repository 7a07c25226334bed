/** Headers of single starts and signals, which the SDK's client can set only by interceptors. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';

const headers = new AsyncLocalStorage<Headers>();

/** Sets a header on the starts and signals that `send` sends. */
export function withHeader<T>(name: string, value: object, send: () => Promise<T>): Promise<T> {
  return headers.run({ [name]: defaultPayloadConverter.toPayload(value) }, send);
}

export const headerInterceptor: WorkflowClientInterceptor = {
  startWithDetails: (input, next) => next({ ...input, headers: { ...input.headers, ...headers.getStore() } }),
  signal: (input, next) => next({ ...input, headers: { ...input.headers, ...headers.getStore() } }),
};
