/** What a client opts in to beyond MCP: `experimental.asyncTools` and `experimental.twoStage` of its capabilities, in both eras. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

export interface OptIns {
  /** Operation tokens (SEP-1391). */
  asyncTools: boolean;
  /** Two-stage returns. */
  twoStage: boolean;
}

/**
 * @param capabilities the client's, as they came
 * @throws ProtocolError -32602 for an opt-in that is no object
 */
export function optInsOf(capabilities: unknown): OptIns {
  const { experimental } = (capabilities ?? {}) as { experimental?: unknown };
  const declared = isObject(experimental) ? experimental : {};
  const has = (name: keyof OptIns): boolean => {
    const value = declared[name];
    if (value === undefined || isObject(value)) return value !== undefined;
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `capabilities.experimental.${name}: expected an object, {} to opt in; got ${JSON.stringify(value)}`,
    );
  };
  return { asyncTools: has('asyncTools'), twoStage: has('twoStage') };
}

/** The opt-ins as the server's capabilities echo them; nothing for a client that has none. */
export function echoOf({ asyncTools, twoStage }: OptIns): { experimental?: Record<string, object> } {
  if (!asyncTools && !twoStage) return {};
  return {
    experimental: { ...(asyncTools ? { asyncTools: {} } : {}), ...(twoStage ? { twoStage: {} } : {}) },
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
