/** Stateless sessions. The sealed session ID holds the state, so any process can serve it, even after a restart. */
import { randomBytes } from 'node:crypto';
import {
  LATEST_PROTOCOL_VERSION,
  SUPPORTED_PROTOCOL_VERSIONS,
  type InitializeRequest,
} from '@modelcontextprotocol/sdk/types.js';
import type { Guard } from '../guard.js';
import { isPastKeepAlive } from '../../operations/tool/budgets.js';
import { SEARCH_ATTRIBUTES } from '../../operations/wire/index.js';
import { withTimeout } from '../../platform/with-timeout.js';
import { showsForms } from '../call/elicitation.js';
import { experimentalCapabilitiesOf, type ExperimentalCapabilities } from '../call/select-protocol.js';

export interface Session extends ExperimentalCapabilities {
  version: string;
  elicitation: boolean;
  clientName: string;
  principal: string;
  /** Unique per session. The scopes that list its operations derive from it. */
  nonce: string;
  /** Epoch milliseconds. */
  endsAt: number;
}

/** Features of a protocol version. Versions are dates, so they compare as text. */
export interface VersionFeatures {
  tasks: boolean;
  elicitation: boolean;
  batches: boolean;
  resourceLinks: boolean;
  /** Events without data, which only give the client an ID to resume from. */
  emptyEvents: boolean;
}

export function featuresOf(version: string): VersionFeatures {
  return {
    tasks: version >= '2025-11-25',
    elicitation: version >= '2025-06-18',
    batches: version < '2025-06-18',
    resourceLinks: version >= '2025-06-18',
    emptyEvents: version >= '2025-11-25',
  };
}

/** Session lifetime beyond the namespace's retention: 30 days, enough for work that waits for people. */
const SESSION_SECONDS = 30 * 24 * 3600;
/** Retention assumed while Temporal can't be reached: 30 days. */
const ASSUMED_RETENTION_SECONDS = 30 * 24 * 3600;
/** How long `initialize` waits for Temporal, in milliseconds. */
const FACTS_LIMIT_MS = 500;
const NONCE_BYTES = 16;
const CLIENT_NAME_CHARACTERS = 64;

/** Scope of a session's tasks. Its other operations have other scopes, since they send no task notifications. */
export function taskScope({ nonce }: Session): string {
  return `${nonce}.tasks`;
}

/** Scope of operations that the session started with an operation token (SEP-1391). */
export function operationScope({ nonce }: Session): string {
  return `${nonce}.operations`;
}

export function jobScope({ nonce }: Session): string {
  return `${nonce}.jobs`;
}

/** All scopes of a session's operations. */
export function sessionScopes(session: Session): string[] {
  return [session.nonce, taskScope(session), operationScope(session), jobScope(session)];
}

/** From `initialize` (specs: 2025-11-25 basic/lifecycle). @throws ProtocolError -32602 for an opt-in that isn't an object */
export async function newSession(
  engine: Guard,
  { params }: Pick<InitializeRequest, 'params'>,
): Promise<Session> {
  const { protocolVersion, capabilities, clientInfo } = params;
  const version = SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion)
    ? protocolVersion
    : LATEST_PROTOCOL_VERSION;
  const { retentionSeconds } = await factsOrDefault(engine);
  return {
    version,
    elicitation: featuresOf(version).elicitation && showsForms(capabilities.elicitation),
    ...experimentalCapabilitiesOf(capabilities),
    clientName: clientInfo.name.slice(0, CLIENT_NAME_CHARACTERS),
    principal: engine.principal,
    nonce: randomBytes(NONCE_BYTES).toString('base64url'),
    endsAt: Date.now() + (SESSION_SECONDS + retentionSeconds) * 1000,
  };
}

/** Defaults apply if Temporal isn't connected or doesn't answer within {@link FACTS_LIMIT_MS}. */
async function factsOrDefault(engine: Guard): Promise<{ retentionSeconds: number }> {
  const assumed = { retentionSeconds: ASSUMED_RETENTION_SECONDS };
  if (!engine.isConnected) return assumed;
  const facts = await withTimeout(
    engine.facts().catch(() => undefined),
    FACTS_LIMIT_MS,
  );
  return facts ?? assumed;
}

/**
 * Whether results of an expired session's operations are still kept (SEP-1391: "SHOULD NOT delete active sessions until all
 * operation.keepAlive durations have elapsed"). Work that waits for people may outlast a session.
 *
 * @throws LonghaulError `unavailable`
 */
export async function hasKeptOperations(engine: Guard, session: Session): Promise<boolean> {
  const listed = [
    ...(session.asyncTools ? [operationScope(session)] : []),
    ...(session.twoStage ? [jobScope(session)] : []),
  ];
  if (listed.length === 0 || !(await canListSessions(engine))) return false;
  const nowMs = await engine.nowMs();
  for (const name of listed) {
    // Open ones come first, then the latest.
    const { operations } = await engine.list({ session: name });
    if (operations.some((one) => !isPastKeepAlive(one, nowMs))) return true;
  }
  return false;
}

async function canListSessions(engine: Guard): Promise<boolean> {
  const { searchAttributes, missingAttributes } = await engine.facts();
  return searchAttributes && !missingAttributes.includes(SEARCH_ATTRIBUTES.session);
}
