/** A connection's unanswered requests. */
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/server';

export class UnansweredRequests {
  /** Open requests by ID. Some clients use one ID several times. */
  readonly #open = new Map<RequestId, number>();
  #waiting: (() => void)[] = [];

  /** Counts a request. A cancelled one counts as answered, since it gets no response. */
  received(message: unknown): void {
    if (isJSONRPCRequest(message)) this.#open.set(message.id, (this.#open.get(message.id) ?? 0) + 1);
    else if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled')
      this.#settle(message.params?.['requestId'] as RequestId);
  }

  /** Takes back a request of a batch that was refused as a whole. */
  refused(message: unknown): void {
    if (isJSONRPCRequest(message)) this.#settle(message.id);
  }

  sent(message: JSONRPCMessage): void {
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message))
      this.#settle(message.id as RequestId);
  }

  async allAnswered(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #settle(id: RequestId): void {
    const count = this.#open.get(id) ?? 0;
    if (count > 1) this.#open.set(id, count - 1);
    else this.#open.delete(id);
    if (this.#open.size > 0) return;
    for (const wake of this.#waiting) wake();
    this.#waiting = [];
  }
}
