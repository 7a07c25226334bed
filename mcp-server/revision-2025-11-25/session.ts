/**
 * Sessions of the older era. What a server would have to remember of one is its ID, sealed: so any process serves it,
 * also after a restart, and there is no table of them.
 */
import { randomBytes } from 'node:crypto';
import {
  LATEST_PROTOCOL_VERSION,
  SUPPORTED_PROTOCOL_VERSIONS,
  type InitializeRequest,
} from '@modelcontextprotocol/sdk/types.js';
import type { Engine } from '../../engine/index.js';
import { withTimeout } from '../shared/budget.js';
import { showsForms } from '../shared/elicitation.js';
import {
  experimentalCapabilitiesOf,
  type ExperimentalCapabilities,
} from '../shared/experimental-capabilities.js';

export interface Session extends ExperimentalCapabilities {
  /** Negotiated protocol version. */
  version: string;
  /** Can the client show forms? */
  elicitation: boolean;
  clientName: string;
  principal: string;
  /** Tells sessions apart; operations are listed under it. */
  nonce: string;
  /** Epoch milliseconds. */
  endsAt: number;
}

/** What a protocol version has. Versions are dates, so they compare as text. */
export interface VersionFeatures {
  tasks: boolean;
  elicitation: boolean;
  /** JSON-RPC batches. */
  batches: boolean;
  /** Links to resources in results. */
  resourceLinks: boolean;
  /** Events without data, which only prime a client to come back. */
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

/** How long a session lasts beyond the namespace's retention, in seconds: for as long as people may leave work waiting. */
const SESSION_SECONDS = 30 * 24 * 3600;
/** The retention to reckon with while Temporal can't be asked, in seconds. */
const ASSUMED_RETENTION_SECONDS = 30 * 24 * 3600;
/** How long `initialize` waits for what it asks Temporal, in milliseconds. */
const FACTS_LIMIT_MS = 500;
const NONCE_BYTES = 16;
/** How much of a client's name is kept, in characters. */
const CLIENT_NAME_CHARACTERS = 64;

/** What a session's tasks are listed under: its other operations are none, and it is told nothing of them. */
export function taskScope({ nonce }: Session): string {
  return `${nonce}.tasks`;
}

/** What those that it started with an operation token (SEP-1391) are listed under. */
export function operationScope({ nonce }: Session): string {
  return `${nonce}.operations`;
}

/** What its two-stage jobs are listed under. */
export function jobScope({ nonce }: Session): string {
  return `${nonce}.jobs`;
}

/** Everything that operations of a session may be listed under. */
export function sessionScopes(session: Session): string[] {
  return [session.nonce, taskScope(session), operationScope(session), jobScope(session)];
}

/**
 * A new session, as `initialize` makes it (specs: 2025-11-25 basic/lifecycle).
 *
 * @throws ProtocolError -32602 for an opt-in that is no object
 */
export async function newSession(
  engine: Engine,
  principal: string,
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
    principal,
    nonce: randomBytes(NONCE_BYTES).toString('base64url'),
    endsAt: Date.now() + (SESSION_SECONDS + retentionSeconds) * 1000,
  };
}

/** `initialize` waits neither for a connection to Temporal nor for a Temporal that is slow. */
async function factsOrDefault({ temporal }: Engine): Promise<{ retentionSeconds: number }> {
  const assumed = { retentionSeconds: ASSUMED_RETENTION_SECONDS };
  if (!temporal.isConnected) return assumed;
  const facts = await withTimeout(
    temporal.facts().catch(() => undefined),
    FACTS_LIMIT_MS,
  );
  return facts ?? assumed;
}

/**
 * Is a session needed beyond its end, for what it has started and not collected (SEP-1391: "SHOULD NOT delete active
 * sessions until all operation.keepAlive durations have elapsed")? Work may wait for people for longer than any session.
 *
 * @throws LonghaulError `unavailable`
 */
export async function isStillNeeded(engine: Engine, session: Session): Promise<boolean> {
  const listed = [
    ...(session.asyncTools ? [operationScope(session)] : []),
    ...(session.twoStage ? [jobScope(session)] : []),
  ];
  if (listed.length === 0 || !(await engine.temporal.facts()).searchAttributes) return false;
  for (const name of listed) {
    // Open ones come first, and then the latest.
    const { operations } = await engine.list(session.principal, { session: name });
    const isKept = ({ closedAt, keepAliveSeconds }: (typeof operations)[number]) =>
      closedAt === undefined || Date.parse(closedAt) + keepAliveSeconds * 1000 > Date.now();
    if (operations.some(isKept)) return true;
  }
  return false;
}
