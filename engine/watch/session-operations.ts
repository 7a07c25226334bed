/** Finds operations of listening sessions, with one visibility query for many sessions. */
import { START_MEMO, SEARCH_ATTRIBUTES } from '../../operations/wire/index.js';
import { readMemo } from '../../platform/temporal/memo.js';
import { keywordIn } from '../../platform/temporal/search-attributes.js';
import { anyOf } from '../../platform/temporal/visibility-query.js';
import { pagesOfRuns, type RunInfo } from '../list/current-runs.js';
import { RunTokens } from '../external/run-tokens.js';
import { toDate } from '../read/history.js';
import { listedStartOf, listedTokenOf } from '../read/start-memo.js';
import type { TemporalClient } from '../temporal/client.js';
import { NOT_CONTINUED } from '../list/visibility-query.js';

/** Runs per page, and maximum number of pages. Each run comes with its memo. */
const PAGE_RUNS = 100;
const MAX_PAGES = 10;
const QUERY_SESSIONS = 200;

/** A session with the principal that its operations must belong to. */
export interface SessionScope {
  principal: string;
  session: string;
}

export interface SessionOperation {
  session: string;
  token: string;
  closedAt?: Date;
}

/** `startedAfter`: operations started since. `closedAfter`: operations that are open, or have closed since. */
export type SessionPeriod = { startedAfter: Date } | { closedAfter: Date };

/** Finds operations of sessions, without other principals' operations. @throws LonghaulError `unavailable` */
export async function findSessionOperations(
  temporal: TemporalClient,
  scopes: readonly SessionScope[],
  period: SessionPeriod,
  secret: Buffer,
): Promise<SessionOperation[]> {
  const runTokens = new RunTokens(secret);
  const { searchAttributes, missingAttributes, openRuns } = await temporal.facts();
  if (!searchAttributes || missingAttributes.includes(SEARCH_ATTRIBUTES.session)) return [];
  const principals = new Map(scopes.map(({ session, principal }) => [session, principal]));
  const found: SessionOperation[] = [];
  const sessions = [...principals.keys()];
  for (let at = 0; at < sessions.length; at += QUERY_SESSIONS) {
    const query = sessionsQuery(sessions.slice(at, at + QUERY_SESSIONS), period, openRuns);
    for await (const infos of pagesOfRuns(temporal, 'sessions', query, PAGE_RUNS, MAX_PAGES)) {
      const operations = infos.map((info) => sessionOperation(temporal, principals, info, runTokens));
      found.push(...(await Promise.all(operations)).filter((one) => one !== undefined));
    }
  }
  return found;
}

function sessionsQuery(sessions: string[], period: SessionPeriod, openRuns: string): string {
  const term =
    'startedAfter' in period
      ? `StartTime > '${period.startedAfter.toISOString()}'`
      : `(${openRuns} OR CloseTime > '${period.closedAfter.toISOString()}')`;
  return `${SEARCH_ATTRIBUTES.session} ${anyOf(sessions)} AND ${NOT_CONTINUED} AND ${term}`;
}

/** Undefined unless the workflow is an operation of the session's principal. */
async function sessionOperation(
  temporal: TemporalClient,
  principals: ReadonlyMap<string, string>,
  info: RunInfo,
  runTokens: RunTokens,
): Promise<SessionOperation | undefined> {
  const { closeTime } = info;
  const session = keywordIn(info, SEARCH_ATTRIBUTES.session);
  const memo = await readMemo(temporal.dataConverter, info.memo?.fields, [START_MEMO]);
  const start = await listedStartOf(temporal, info, memo);
  if (!session || !start || principals.get(session) !== start.principal) return undefined;
  return {
    session,
    token: listedTokenOf(runTokens, info, memo, start),
    ...(closeTime ? { closedAt: toDate(closeTime) } : {}),
  };
}
