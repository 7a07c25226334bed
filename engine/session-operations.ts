/** Operations of sessions that listen, found in Temporal's visibility store by one query for many sessions. */
import { decodeMapFromPayloads } from '../platform/temporal/internal/payloads.js';
import { START_MEMO, SEARCH_ATTRIBUTES, type StartMemo } from '../operations/wire.js';
import { quote } from '../platform/visibility-query.js';
import { listRuns, type RunInfo } from './current-runs.js';
import { RunTokens } from './external/run-tokens.js';
import { toDate } from './history.js';
import type { TemporalClient } from './temporal.js';
import { NOT_CONTINUED } from './visibility-query.js';

/** Runs per page, and maximum number of pages: each run comes with its memo. */
const PAGE_RUNS = 100;
const MAX_PAGES = 10;
/** Maximum number of sessions in a query. */
const QUERY_SESSIONS = 200;

/** Session that operations are listed under, with the principal whose operations they have to be. */
export interface SessionScope {
  principal: string;
  session: string;
}

/** An operation of a session. */
export interface SessionOperation {
  session: string;
  token: string;
  closedAt?: Date;
}

/** `startedAfter`: operations started since. `closedAfter`: those that are open, or have closed since. */
export type SessionPeriod = { startedAfter: Date } | { closedAfter: Date };

/** Sessions, and the period in which their operations were started or open. */
export type SessionQuery = [scopes: readonly SessionScope[], period: SessionPeriod];

/**
 * Finds operations of sessions; the operations of other principals are left out.
 *
 * @throws LonghaulError `unavailable`
 */
export async function findSessionOperations(
  temporal: TemporalClient,
  scopes: readonly SessionScope[],
  period: SessionPeriod,
  secret: Buffer,
): Promise<SessionOperation[]> {
  const runTokens = new RunTokens(secret);
  if (!(await temporal.facts()).searchAttributes) return [];
  const principals = new Map(scopes.map(({ session, principal }) => [session, principal]));
  const found: SessionOperation[] = [];
  const sessions = [...principals.keys()];
  for (let at = 0; at < sessions.length; at += QUERY_SESSIONS) {
    const query = sessionsQuery(sessions.slice(at, at + QUERY_SESSIONS), period);
    let next: Uint8Array | undefined;
    let pages = 0;
    do {
      const page = await listRuns(temporal, 'sessions', query, PAGE_RUNS, next);
      const operations = page.infos.map((info) => sessionOperation(temporal, principals, info, runTokens));
      found.push(...(await Promise.all(operations)).filter((one) => one !== undefined));
      next = page.next;
      pages += 1;
    } while (next && pages < MAX_PAGES);
  }
  return found;
}

function sessionsQuery(sessions: string[], period: SessionPeriod): string {
  const term =
    'startedAfter' in period
      ? `StartTime > '${period.startedAfter.toISOString()}'`
      : `(ExecutionStatus = 'Running' OR CloseTime > '${period.closedAfter.toISOString()}')`;
  return `${SEARCH_ATTRIBUTES.session} IN (${sessions.map(quote).join(', ')}) AND ${NOT_CONTINUED} AND ${term}`;
}

/** Undefined for a workflow that is not an operation of the session's principal. */
async function sessionOperation(
  temporal: TemporalClient,
  principals: ReadonlyMap<string, string>,
  { memo, searchAttributes, execution, closeTime }: RunInfo,
  runTokens: RunTokens,
): Promise<SessionOperation | undefined> {
  const attribute = searchAttributes?.indexedFields?.[SEARCH_ATTRIBUTES.session]?.data;
  const session = attribute && (JSON.parse(Buffer.from(attribute).toString()) as string);
  const decoded = await decodeMapFromPayloads(temporal.dataConverter, memo?.fields);
  const startMemo = decoded?.[START_MEMO] as StartMemo | undefined;
  if (!session || !startMemo || principals.get(session) !== startMemo.principal) return undefined;
  return {
    session,
    token: runTokens.ofStart(execution?.workflowId ?? '', startMemo),
    ...(closeTime ? { closedAt: toDate(closeTime) } : {}),
  };
}
