/** Operations' notifications on a session's own stream: progress, if the call has a progress token, and questions. */
import { isTerminal, type OperationRecord } from '../../operations/record.js';
import type { Follower } from '../shared/session-notifier.js';
import { association } from './render.js';

export interface OperationListener {
  send: (notification: { jsonrpc: '2.0'; method: string; params: Record<string, unknown> }) => Promise<void>;
  /** Creates the object that shows an operation's questions. Missing for a client without elicitation. */
  questions?: () => { show(record: OperationRecord): Promise<void>; close(): void };
}

/** Sends a listener the changes of one operation until it has ended or is being cancelled. */
export function followOperation({ send, questions: make }: OperationListener): Follower {
  const questions = make?.();
  return {
    async notify(record) {
      const { token, status, cancelRequestedAt, progress, progressToken, hasProgressed } = record;
      if (isTerminal(status) || cancelRequestedAt !== undefined) return true;
      if (progressToken !== undefined && hasProgressed)
        await send({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken, ...progress, ...association(token) },
        });
      await questions?.show(record);
      return false;
    },
    close: () => questions?.close(),
  };
}
