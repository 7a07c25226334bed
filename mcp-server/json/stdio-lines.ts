/** Replaces the SDK's stdin reader, which blocks on some JSON, leaves invalid requests unanswered and lacks 2025-03-26's batches. */
import type { Readable } from 'node:stream';
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  ProtocolErrorCode,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/server';
import { asRpcError, decodeUtf8, JsonRefusal, parseJson } from './index.js';
import { idIn, memberProblem } from './message-problem.js';

const NEWLINE = 0x0a;
/** Longest line, in bytes: the SDK's limit for a message. */
const LONGEST_LINE_BYTES = 10 * 1024 * 1024;

const TOO_LONG = {
  code: ProtocolErrorCode.InvalidRequest,
  message: `message: expected a line of at most ${LONGEST_LINE_BYTES} bytes; got more`,
};

export interface LineHandlers {
  onMessage: (message: JSONRPCMessage) => void;
  /** Called with a list, valid or not. */
  onBatch: (batch: unknown[]) => void | Promise<void>;
  /** Answers a refused message. `id` is null if it can't be read. */
  onRefusal: (id: string | number | null, error: { code: number; message: string }) => void;
}

/** Hands each line that isn't blank to a handler. The last line needs no newline. Resolves after the last line. */
export function readLines(input: Readable, handlers: LineHandlers): Promise<void> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const endLine = () => {
    if (bytes > LONGEST_LINE_BYTES) handlers.onRefusal(null, TOO_LONG);
    else takeLine(Buffer.concat(parts), handlers);
    parts = [];
    bytes = 0;
  };
  input.on('data', (chunk: Buffer) => {
    for (let rest = chunk; rest.length > 0;) {
      const end = rest.indexOf(NEWLINE);
      const part = end < 0 ? rest : rest.subarray(0, end + 1);
      rest = rest.subarray(part.length);
      bytes += part.length;
      if (bytes <= LONGEST_LINE_BYTES) parts.push(part);
      else parts = [];
      if (end >= 0) endLine();
    }
  });
  return new Promise((resolve) => {
    input.once('end', () => {
      endLine();
      resolve();
    });
    input.once('close', resolve);
  });
}

function takeLine(line: Buffer, { onMessage, onBatch, onRefusal }: LineHandlers): void {
  let message: unknown;
  try {
    const text = decodeUtf8(line);
    if (/^[ \t\r\n]*$/.test(text)) return;
    message = parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonRefusal)) throw error;
    onRefusal(error.id, asRpcError(error));
    return;
  }
  if (Array.isArray(message)) void onBatch(message);
  else if (isMessage(message)) onMessage(message);
  else {
    const problem = memberProblem(message) ?? 'not a JSON-RPC message';
    onRefusal(idIn(message), {
      code: ProtocolErrorCode.InvalidRequest,
      message: `Invalid Request: ${problem}`,
    });
  }
}

function isMessage(message: unknown): message is JSONRPCMessage {
  return (
    isJSONRPCRequest(message) ||
    isJSONRPCNotification(message) ||
    isJSONRPCResultResponse(message) ||
    isJSONRPCErrorResponse(message)
  );
}

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
