/** Stateless sessions. The sealed session ID holds the state, so any process can serve it, even after a restart. */
import { randomBytes } from 'node:crypto';
import {
  InitializeRequestSchema,
  LATEST_PROTOCOL_VERSION,
  SUPPORTED_PROTOCOL_VERSIONS,
  type InitializeRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Guard } from '../guard.js';
import { isPastKeepAlive } from '../../operations/tool/budgets.js';
import type { Tool } from '../../operations/tool/index.js';
import { SEARCH_ATTRIBUTES } from '../../operations/wire/index.js';
import { withTimeout } from '../../platform/with-timeout.js';
import { showsForms } from '../call/elicitation.js';
import { invalidParams } from '../call/protocol-error.js';
import {
  experimentalCapabilitiesOf,
  type Client,
  type ExperimentalCapabilities,
} from '../call/select-protocol.js';
import type { Viewer } from '../revisions/methods.js';

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
export function featuresOf(version: string) {
  return {
    tasks: version >= '2025-11-25',
    elicitation: version >= '2025-06-18',
    batches: version < '2025-06-18',
    resourceLinks: version >= '2025-06-18',
    /** Events without data, which only give the client an ID to resume from. */
    emptyEvents: version >= '2025-11-25',
  };
}

/** The session's client, for lists of tools. */
export function viewerOf({ asyncTools, twoStage, version }: Session): Viewer {
  const optIns = { asyncTools, twoStage };
  const client: Client = featuresOf(version).tasks
    ? { ...optIns, tasks: 'field', needsTasks }
    : { ...optIns, tasks: 'none' };
  return { client, cancelledBy: 'notification' };
}

/** -32601 (specs: 2025-11-25 basic/utilities/tasks, "Tool-Level Negotiation"). */
function needsTasks({ name }: Tool): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.MethodNotFound, `the tool ${name} can only be called as a task`);
}

/** Session lifetime beyond the namespace's retention: 30 days, enough for work that waits for people. */
const SESSION_SECONDS = 30 * 24 * 3600;
/** Retention assumed while Temporal can't be reached: 30 days. */
const ASSUMED_RETENTION_SECONDS = 30 * 24 * 3600;
/** How long `initialize` waits for Temporal, in milliseconds. */
const FACTS_LIMIT_MS = 500;
const NONCE_BYTES = 16;
const CLIENT_NAME_CHARACTERS = 64;

/** Kinds of a session's operations besides plain ones. Each has a scope that lists it, since each has its own notifications. */
const SCOPES = ['tasks', 'operations', 'jobs'] as const;

/** @param kind `operations`: started with an operation token (SEP-1391) */
export function scopeOf({ nonce }: Session, kind: (typeof SCOPES)[number]): string {
  return `${nonce}.${kind}`;
}

/** All scopes of a session's operations. */
export function sessionScopes(session: Session): string[] {
  return [session.nonce, ...SCOPES.map((kind) => scopeOf(session, kind))];
}

/** @throws ProtocolError -32602 for an `initialize` that doesn't match its schema, or an opt-in that isn't an object */
export function parseInitialize(request: object): InitializeRequest {
  experimentalCapabilitiesOf((request as { params?: { capabilities?: unknown } }).params?.capabilities);
  const parsed = InitializeRequestSchema.safeParse(request);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw invalidParams(`Invalid initialize request: ${path.join('.')}: ${message}`);
}

/** From `initialize` (specs: 2025-11-25 basic/lifecycle). */
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
    ...(session.asyncTools ? [scopeOf(session, 'operations')] : []),
    ...(session.twoStage ? [scopeOf(session, 'jobs')] : []),
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
