/** Replaces the SDK's stdin reader, which blocks on some JSON, leaves invalid requests unanswered and lacks 2025-03-26's batches. */
import type { Readable } from 'node:stream';
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  ProtocolErrorCode,
  type JSONRPCMessage,
} from '@modelcontextprotocol/server';
import { asRpcError, decodeUtf8, JsonRefusal, parseJson } from '../shared/json.js';
import { idIn, memberProblem } from '../shared/message-problem.js';

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
