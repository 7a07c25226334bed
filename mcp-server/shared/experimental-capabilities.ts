/** Protocols beyond MCP that a client opts in to, with its capabilities `experimental.asyncTools` and `experimental.twoStage`. */
import { isObject } from '../../operations/is-object.js';
import { invalidParams } from './protocol-error.js';

export interface ExperimentalCapabilities {
  /** Operation tokens (SEP-1391). */
  asyncTools: boolean;
  /** Two-stage returns. */
  twoStage: boolean;
}

/** @throws ProtocolError -32602 for an opt-in that isn't an object */
export function experimentalCapabilitiesOf(capabilities: unknown): ExperimentalCapabilities {
  const { experimental } = (capabilities ?? {}) as { experimental?: unknown };
  const declared = isObject(experimental) ? experimental : {};
  const has = (name: keyof ExperimentalCapabilities): boolean => {
    const value = declared[name];
    if (value === undefined || isObject(value)) return value !== undefined;
    throw invalidParams(
      `capabilities.experimental.${name}: expected an object, {} to opt in; got ${JSON.stringify(value)}`,
    );
  };
  return { asyncTools: has('asyncTools'), twoStage: has('twoStage') };
}

/**
 * The server's own capabilities, the same for all clients: a client must see the opt-ins before it can opt in (specs: 2025-11-25
 * basic/lifecycle, "Capability Negotiation"; 2026-07-28 server/discover).
 */
export const OPT_IN_CAPABILITIES: {
  experimental: Record<keyof ExperimentalCapabilities, Record<string, never>>;
} = {
  experimental: { asyncTools: {}, twoStage: {} },
};
