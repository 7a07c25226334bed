/** Calls the server's mailbox tools. Their results are JSON as text. */
import { CommandFailure } from '../../cli/failure.js';
import { RpcError, type RequestOptions } from '../../cli/client/connection.js';
import { EXIT } from '../../cli/client/exit-codes.js';
import { callBuiltinTool, unsupportedTool } from '../../cli/client/operation-tools.js';
import { isObject, parseJson } from '../../cli/tools/schema-values.js';
import type { Session } from '../../cli/client/session.js';

export interface Agent {
  name: string;
  type: string;
  capabilities: string[];
  parent?: string;
  state: string;
  queued: number;
  /** Dead letters. */
  dead?: number;
  /** ISO 8601. */
  seen: string;
}

export interface InboxMessage {
  id: string;
  from?: string;
  mode: string;
  /** Text. */
  m: string;
  ctx?: unknown;
  /** The message that this one responds to. */
  re?: string;
  /** ISO 8601. */
  sent: string;
  /** Absent from a dead letter. */
  state?: string;
  /** Set on a dead letter. */
  deliveries?: number;
  /** ISO 8601. */
  dead?: string;
}

/** Result of a send. After a wait: responses by agent, and the message's state at the others. */
export interface SentMessage {
  id: string;
  to?: string[];
  refused?: Record<string, string>;
  r?: Record<string, string>;
  state?: Record<string, string>;
  deliveries?: Record<string, number>;
  nw?: true;
}

export function afterDeliveries(count: number): string {
  return `after ${count} ${count === 1 ? 'delivery' : 'deliveries'}`;
}

/** @throws ToolRefusal, Unreachable, RpcError; CommandFailure if the mailbox is switched off */
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
