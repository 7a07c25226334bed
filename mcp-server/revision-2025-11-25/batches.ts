/** JSON-RPC batches over stdio. 2025-03-26 has them, but the SDK's stdio transport doesn't support them. */
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';

interface Batch {
  open: Set<RequestId>;
  answers: JSONRPCMessage[];
}

/** Open batches. The answers to a batch are sent together. */
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
