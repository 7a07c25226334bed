/** Calling the server's tools about operations, which answer at once. */
import type { ChildRecord } from '../../operations/record.js';
import { CommandFailure } from '../failure.js';
import { exitCodeOfKind } from './failures.js';
import type { RequestOptions } from './connection.js';
import type { Session } from './session.js';
import { errorKindOf, type OperationSteps, type ToolResult } from './wire.js';

/** How long an answer may take, in milliseconds: a closed workflow may have to be replayed for it. */
const ANSWER_LIMIT_MS = 60_000;

/** A call that such a tool refused, in its words. */
export class ToolRefusal extends CommandFailure {
  constructor(
    message: string,
    exitCode: number,
    readonly isRetryable: boolean,
  ) {
    super(message, exitCode);
  }
}

/** @throws ToolRefusal, Unreachable, RpcError */
export async function callOperationTool<Output>(
  session: Session,
  name: string,
  args: Record<string, unknown>,
  options: RequestOptions = {},
): Promise<Output> {
  const result = await session.request<ToolResult>(
    'tools/call',
    { name, arguments: args },
    { limitMs: ANSWER_LIMIT_MS, ...options },
  );
  if (!result.isError) return result.structuredContent as Output;
  const text = (result.content ?? []).map((block) => block.text ?? '').join('\n');
  const { retryable } = (result._meta?.['longhaul/error'] ?? {}) as { retryable?: boolean };
  throw new ToolRefusal(text, exitCodeOfKind(errorKindOf(result)), retryable === true);
}

/** Where an operation and its parts stand. @throws Unreachable, RpcError */
export function readSteps(
  session: Session,
  token: string,
  options: RequestOptions = {},
): Promise<OperationSteps> {
  return session.request<OperationSteps>('longhaul/operations/read', { token }, options);
}

/** The jobs of a pipeline; none of another operation, nor from a server that doesn't tell. */
export async function readChildren(session: Session, token: string): Promise<ChildRecord[] | undefined> {
  try {
    return (await readSteps(session, token)).children;
  } catch {
    return undefined;
  }
}
