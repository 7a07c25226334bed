/** Calls the server's mailbox tools, whose answers are JSON as text. */
import { CommandFailure } from '../failure.js';
import { RpcError, type RequestOptions } from './connection.js';
import { EXIT } from './exit-codes.js';
import { callBuiltinTool, unsupportedTool } from './operation-tools.js';
import { isObject, parseJson } from './schema-values.js';
import type { Session } from './session.js';

export interface Agent {
  name: string;
  type: string;
  capabilities: string[];
  parent?: string;
  state: string;
  queued: number;
  /** Number of dead letters. */
  dead?: number;
  /** ISO 8601. */
  seen: string;
}

export interface InboxMessage {
  id: string;
  from?: string;
  mode: string;
  /** Text of the message. */
  m: string;
  ctx?: unknown;
  /** ID of the message that it responds to. */
  re?: string;
  /** ISO 8601. */
  sent: string;
  /** Missing for a dead letter. */
  state?: string;
  /** For a dead letter only. */
  deliveries?: number;
  /** ISO 8601. */
  dead?: string;
}

/** Result of a send; with a wait also the responses by agent, and the message's state for the others. */
export interface SentMessage {
  id: string;
  to?: string[];
  refused?: Record<string, string>;
  r?: Record<string, string>;
  state?: Record<string, string>;
  deliveries?: Record<string, number>;
  nw?: true;
}

/** E.g. `after 5 deliveries`. */
export function afterDeliveries(count: number): string {
  return `after ${count} ${count === 1 ? 'delivery' : 'deliveries'}`;
}

/** @throws ToolRefusal, Unreachable, RpcError; CommandFailure where the mailbox is switched off */
export async function callMailboxTool<Answer>(
  session: Session,
  name: string,
  args: Record<string, unknown>,
  options: RequestOptions = {},
): Promise<Answer> {
  try {
    const { content } = await callBuiltinTool(session, name, args, options);
    const answer = parseJson(content?.[0]?.text ?? '');
    if (isObject(answer)) return answer as Answer;
  } catch (error) {
    if (!(error instanceof RpcError && error.kind === 'unknown_tool')) throw error;
    throw new CommandFailure(
      'the server has no mailbox: start it with LONGHAUL_MAILBOX=1 or --mailbox true',
      EXIT.failed,
    );
  }
  throw unsupportedTool(name);
}
