/** Messages as they come, and as the SDK's Server is to see them. */
import {
  isJSONRPCRequest,
  JSONRPCMessageSchema,
  type JSONRPCMessage,
} from '@modelcontextprotocol/sdk/types.js';
import { parseJson } from '../shared/json.js';
import { withoutNesting } from '../shared/raw-call.js';
import { featuresOf, type Session } from './session.js';

export function asServed(session: Session, message: JSONRPCMessage): JSONRPCMessage {
  return withoutStrayTask(session, withoutNesting(message));
}

/**
 * Leaves out a request's `task` where it has no meaning: the SDK would refuse it, and it is to be ignored (specs:
 * 2025-11-25 basic/utilities/tasks, "Task Support and Handling").
 */
function withoutStrayTask({ version }: Session, message: JSONRPCMessage): JSONRPCMessage {
  if (!isJSONRPCRequest(message) || message.params?.['task'] === undefined) return message;
  if (message.method === 'tools/call' && featuresOf(version).tasks) return message;
  const { task: _task, ...params } = message.params;
  return { ...message, params };
}

/** Most messages of a batch. */
const MAX_BATCH = 100;

/** A message or a batch, or undefined for what is neither. */
export function parseMessages(body: unknown): JSONRPCMessage[] | undefined {
  const messages = Array.isArray(body) ? body : [body];
  return JSONRPCMessageSchema.array().min(1).max(MAX_BATCH).safeParse(messages).data;
}

/** The messages of a line that is a batch. */
export function parseBatch(line: string): JSONRPCMessage[] | undefined {
  try {
    const messages = parseMessages(parseJson(line));
    return messages?.some((message) => 'method' in message && message.method === 'initialize')
      ? undefined
      : messages;
  } catch {
    return undefined;
  }
}
