/** JSON-RPC batches over standard input and output, which 2025-03-26 has and the SDK's transports don't know there. */
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

/** The batches that aren't answered yet: their answers go out together. */
export class Batches {
  readonly #open = new Set<Batch>();

  constructor(private readonly send: (message: JSONRPCMessage | JSONRPCMessage[]) => Promise<void>) {}

  add(messages: JSONRPCMessage[]): void {
    const open = new Set(messages.filter((message) => isJSONRPCRequest(message)).map(({ id }) => id));
    if (open.size > 0) this.#open.add({ open, answers: [] });
  }

  /** Sends a message, or keeps it until its batch is answered. */
  async pass(message: JSONRPCMessage): Promise<void> {
    const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
    const batch = isAnswer && message.id !== undefined ? this.#of(message.id) : undefined;
    if (!batch) return this.send(message);
    batch.answers.push(message);
    await this.settle((message as { id: RequestId }).id);
  }

  /** A request is answered, or won't be. */
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
