/** Parses messages, and prepares them for the SDK's Server. */
import {
  isJSONRPCRequest,
  JSONRPCMessageSchema,
  type JSONRPCMessage,
} from '@modelcontextprotocol/sdk/types.js';
import { withoutNesting } from '../shared/message-problem.js';
import { featuresOf, type Session } from './session.js';

export function prepareMessage(session: Session, message: JSONRPCMessage): JSONRPCMessage {
  return withoutStrayTask(session, withoutNesting(message));
}

/** Removes a stray `task`, which the SDK would refuse (specs: 2025-11-25 basic/utilities/tasks, "Task Support and Handling"). */
function withoutStrayTask({ version }: Session, message: JSONRPCMessage): JSONRPCMessage {
  if (!isJSONRPCRequest(message) || message.params?.['task'] === undefined) return message;
  if (message.method === 'tools/call' && featuresOf(version).tasks) return message;
  const { task: _task, ...params } = message.params;
  return { ...message, params };
}

export const MAX_BATCH = 100;

/** Undefined if invalid. */
export function parseMessages(body: unknown): JSONRPCMessage[] | undefined {
  const messages = Array.isArray(body) ? body : [body];
  return JSONRPCMessageSchema.array().min(1).max(MAX_BATCH).safeParse(messages).data;
}

/** Undefined if the batch is invalid or has an `initialize`. */
export function parseBatch(batch: unknown[]): JSONRPCMessage[] | undefined {
  const messages = parseMessages(batch);
  const hasInitialize = messages?.some((message) => 'method' in message && message.method === 'initialize');
  return hasInitialize ? undefined : messages;
}
