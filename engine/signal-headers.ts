/** Headers of single signals: the SDK's client sets them by interceptors alone. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';

const headers = new AsyncLocalStorage<Headers>();

/** Sends the signals that `send` sends with a header. */
export function withSignalHeader<T>(name: string, value: object, send: () => Promise<T>): Promise<T> {
  return headers.run({ [name]: defaultPayloadConverter.toPayload(value) }, send);
}

/** Interceptor of the engine's client. */
export const signalHeaderInterceptor: WorkflowClientInterceptor = {
  signal: (input, next) => next({ ...input, headers: { ...input.headers, ...headers.getStore() } }),
};
