/** Parses messages, and prepares them for the SDK's Server. */
import {
  isJSONRPCRequest,
  JSONRPCMessageSchema,
  type JSONRPCMessage,
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { withoutNesting } from '../json/message-problem.js';
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

interface Batch {
  open: Set<RequestId>;
  answers: JSONRPCMessage[];
}

/** Open batches over stdio, which the SDK's transport lacks. The answers to a batch are sent together (2025-03-26). */
export class Batches {
  readonly #open = new Set<Batch>();

  constructor(private readonly send: (message: JSONRPCMessage | JSONRPCMessage[]) => Promise<void>) {}

  add(messages: JSONRPCMessage[]): void {
    const open = new Set(messages.filter((message) => isJSONRPCRequest(message)).map(({ id }) => id));
    if (open.size > 0) this.#open.add({ open, answers: [] });
  }

  /** Sends a message, or holds it until its batch is complete. */
  async pass(message: JSONRPCMessage): Promise<void> {
    const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
    const batch = isAnswer && message.id !== undefined ? this.#of(message.id) : undefined;
    if (!batch) return this.send(message);
    batch.answers.push(message);
    await this.settle((message as { id: RequestId }).id);
  }

  /** Marks a request as answered, or as never to be answered. */
  async settle(id: RequestId): Promise<void> {
    const batch = this.#of(id);
    batch?.open.delete(id);
    if (!batch || batch.open.size > 0) return;
    this.#open.delete(batch);
    if (batch.answers.length > 0) await this.send(batch.answers);
  }

  #of(id: RequestId): Batch | undefined {
    return [...this.#open].find(({ open }) => open.has(id));
  }
}
