/** A task's notifications (specs: 2025-11-25 basic/utilities/tasks, "Task Notifications"; basic/utilities/progress). */
import type { OperationRecord } from '../../../operations/record.js';
import type { Follower } from '../../shared/session-notifier.js';
import { isTerminalTask, renderTask, type RenderContext } from './render.js';

export interface TaskListener extends RenderContext {
  send: (notification: { jsonrpc: '2.0'; method: string; params: Record<string, unknown> }) => Promise<void>;
  /** Creates the object that shows a task's questions. Missing for a client without elicitation. */
  questions?: () => { show(record: OperationRecord): Promise<void>; close(): void };
}

export function followTask(listener: TaskListener): Follower {
  const { send } = listener;
  const questions = listener.questions?.();
  let sent = '';
  return {
    async notify(record) {
      const task = renderTask(record, listener);
      const { progress, progressToken, hasProgressed } = record;
      const isOver = isTerminalTask(task);
      if (!isOver && progressToken !== undefined && hasProgressed)
        await send({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken, ...progress },
        });
      const { lastUpdatedAt: _lastUpdatedAt, ...fields } = task;
      if (JSON.stringify(fields) !== sent)
        await send({ jsonrpc: '2.0', method: 'notifications/tasks/status', params: { ...task } });
      sent = JSON.stringify(fields);
      if (!isOver) await questions?.show(record);
      return isOver;
    },
    close: () => questions?.close(),
  };
}
