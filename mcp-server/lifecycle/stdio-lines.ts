/**
 * Filters lines of standard input before the SDK's transport, which would parse JSON that blocks the process for seconds,
 * leave invalid requests unanswered, and doesn't support the batches of 2025-03-26.
 */
import { Transform } from 'node:stream';
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { asRpcError, JsonRefusal, parseJson } from '../shared/json.js';
import { idIn, memberProblem } from '../shared/message-problem.js';

const NEWLINE = 0x0a;
const OPENING_BRACKET = 0x5b;
/** Longest line, in bytes: the SDK's limit for a message. */
const LONGEST_LINE_BYTES = 10 * 1024 * 1024;

const TOO_LONG = {
  code: ProtocolErrorCode.InvalidRequest,
  message: `message: expected a line of at most ${LONGEST_LINE_BYTES} bytes; got more`,
};

export interface LineHandlers {
  /** Called with a line that is a batch. */
  onBatch: (line: string) => void;
  /** Answers a refused message; `id` is null if it can't be read. */
  onRefusal: (id: string | number | null, error: { code: number; message: string }) => undefined;
}

/** Passes valid messages through line by line; batches and refused messages go to the handlers. */
export function checkedLines({ onBatch, onRefusal }: LineHandlers): Transform {
  let parts: Buffer[] = [];
  let bytes = 0;
  const take = (line: Buffer): Buffer | undefined => {
    const text = line.toString();
    if (line[0] === OPENING_BRACKET) {
      onBatch(text);
      return undefined;
    }
    const refusal = refusalOf(text);
    if (!refusal) return line;
    onRefusal(refusal.id, refusal.error);
    return undefined;
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let rest = chunk; rest.length > 0;) {
        const end = rest.indexOf(NEWLINE);
        const part = end < 0 ? rest : rest.subarray(0, end + 1);
        rest = rest.subarray(part.length);
        bytes += part.length;
        if (bytes <= LONGEST_LINE_BYTES) parts.push(part);
        else parts = [];
        if (end < 0) continue;
        const line = bytes <= LONGEST_LINE_BYTES ? take(Buffer.concat(parts)) : onRefusal(null, TOO_LONG);
        parts = [];
        bytes = 0;
        if (line) this.push(line);
      }
      done();
    },
  });
}

/** Error for a line that must be refused. Lines that aren't JSON pass through: the SDK skips them. */
function refusalOf(
  line: string,
): { id: string | number | null; error: { code: number; message: string } } | undefined {
  let message: unknown;
  try {
    message = parseJson(line);
  } catch (error) {
    if (!(error instanceof JsonRefusal)) throw error;
    return error.kind === 'syntax' ? undefined : { id: error.id, error: asRpcError(error) };
  }
  const isMessage =
    isJSONRPCRequest(message) ||
    isJSONRPCNotification(message) ||
    isJSONRPCResultResponse(message) ||
    isJSONRPCErrorResponse(message);
  if (isMessage) return undefined;
  const problem = memberProblem(message) ?? 'not a JSON-RPC message';
  return {
    id: idIn(message),
    error: { code: ProtocolErrorCode.InvalidRequest, message: `Invalid Request: ${problem}` },
  };
}
