/** Lists of operations, from Temporal's visibility store. */
import { LonghaulError } from '../../operations/errors.js';
import { isTerminal, type ListedOperation } from '../../operations/record.js';
import type { Tool } from '../../operations/tool/index.js';
import { SEARCH_ATTRIBUTES, tokenOf } from '../../operations/wire/index.js';
import { sealOf } from '../../platform/home/seal.js';
import { currentRuns, listRuns, type RunInfo } from './current-runs.js';
import { listAdopted, listingTools, type AdoptedFilter } from '../external/list.js';
import { RunTokens } from '../external/run-tokens.js';
import type { TemporalClient } from '../temporal/client.js';
import type { TemporalFacts } from '../temporal/namespace-facts.js';
import { listedOperation, type RowReader } from './listed-operation.js';
import type { VisibilityUse } from './visibility-budget.js';
import { justContinuedQuery, listQuery, statusQuery, type ListFilter } from './visibility-query.js';

const DEFAULT_PAGE_SIZE = 50;
/** Maximum number of list calls per page: filtered runs leave it short. */
const MAX_READS_PER_PAGE = 10;
/** Maximum number of recently continued runs to read; each comes with its memo. */
const JUST_CONTINUED_RUNS = 100;

interface ListCursor {
  principal: string;
  wholeTenant: boolean;
  /** Visibility query with all filters. */
  query: string;
  /** Filters to check again on operations, since Temporal lists runs; also those of adopted runs. */
  filters: AdoptedFilter;
  /** The caller's filters, without `createdAfter`. */
  given: string;
  hasAdopted: boolean;
  /** Tool whose adopted runs come next; missing while Longhaul's own operations are listed. */
  source?: string;
  /** Temporal's page token, in base64; empty at the beginning of a source. */
  next: string;
}

export interface OperationPage {
  operations: ListedOperation[];
  nextCursor?: string;
}

/** Lists a page of operations. @throws LonghaulError `unavailable`, `invalid_arguments` for a cursor of another list */
export async function listOperations(
  temporal: TemporalClient,
  secret: Buffer,
  principal: string,
  filter: ListFilter,
  tools: Iterable<Tool> = [],
): Promise<OperationPage> {
  assertListable(await temporal.facts(), filter);
  const { wholeTenant = false } = filter;
  const cursors = sealOf<ListCursor>(secret, 'list of operations');
  const cursor = filter.cursor === undefined ? undefined : cursors.open(filter.cursor);
  const given = JSON.stringify([filter.tool, filter.status, filter.session, filter.idempotencyKey]);
  if (filter.cursor !== undefined && !isOfList(cursor, principal, filter, given)) {
    throw new LonghaulError(
      'invalid_arguments',
      'cursor: expected one from an earlier page of this list, unchanged, with the same filters or none; got another',
    );
  }
  const { openRuns } = await temporal.facts();
  const { tool, status, createdAfter, session, idempotencyKey, limit = DEFAULT_PAGE_SIZE } = filter;
  const query = cursor?.query ?? listQuery(principal, filter, statusQuery(status, openRuns));
  const filters = cursor?.filters ?? { tool, status, createdAfter: createdAfter?.toISOString() };
  // Adopted runs lack Longhaul's search attributes.
  const hasAdopted =
    cursor?.hasAdopted ?? !(filter.withoutAdopted || session !== undefined || idempotencyKey !== undefined);
  const runTokens = new RunTokens(secret);
  const list: List = { temporal, principal, wholeTenant, query, filters, runTokens, use: 'list' };
  const next = cursor && (cursor.next === '' ? undefined : Buffer.from(cursor.next, 'base64'));
  const own =
    cursor?.source === undefined
      ? await ownOperations(list, filter, limit, next)
      : { operations: [], next: undefined };
  const sealed = (at: Uint8Array | undefined, source?: string) =>
    cursors.seal({
      ...{ principal, wholeTenant, query, filters, given: cursor?.given ?? given, hasAdopted, source },
      next: at ? Buffer.from(at).toString('base64') : '',
    });
  if (own.next) return { operations: own.operations, nextCursor: sealed(own.next) };
  const sources = hasAdopted ? listingTools(tools, filters) : [];
  const { operations } = own;
  let from = cursor?.source === undefined ? undefined : next;
  for (const source of sources) {
    if (cursor?.source !== undefined && source.name < cursor.source) continue;
    if (operations.length >= limit) return { operations, nextCursor: sealed(from, source.name) };
    const left = limit - operations.length;
    const page = await listAdopted(list, source, filters, left, from);
    operations.push(...page.operations);
    if (page.next) return { operations, nextCursor: sealed(page.next, source.name) };
    from = undefined;
  }
  return { operations };
}

/** @throws LonghaulError `unavailable` if Temporal lacks the search attributes that the list needs */
function assertListable({ searchAttributes, missingAttributes }: TemporalFacts, filter: ListFilter): void {
  const refuse = (what: string) => {
    throw new LonghaulError('unavailable', `this Temporal lacks ${what}`, { retryable: false });
  };
  const lacks = (name: string) => missingAttributes.includes(name);
  const { session, idempotencyKey } = SEARCH_ATTRIBUTES;
  if (!searchAttributes) refuse("Longhaul's search attributes, so lists don't work; tokens do");
  if (filter.session !== undefined && lacks(session))
    refuse(`the search attribute ${session}, which lists by session need; other lists work`);
  if (filter.idempotencyKey !== undefined && lacks(idempotencyKey))
    refuse(
      `the search attribute ${idempotencyKey}, which lists by key need; to find the operation, repeat its start with the key`,
    );
}

async function ownOperations(
  list: List,
  filter: ListFilter,
  limit: number,
  from: Uint8Array | undefined,
): Promise<Page> {
  let page = await readPage(list, limit, from);
  const missing = from ? [] : (await missingOperations(list, filter, page)).slice(0, limit - 1);
  if (missing.length + page.operations.length > limit) page = await readPage(list, limit - missing.length);
  const tokens = new Set(missing.map(({ token }) => token));
  const operations = [...missing, ...page.operations.filter(({ token }) => !tokens.has(token))];
  return { operations, next: page.next };
}

interface List extends RowReader {
  query: string;
  filters: AdoptedFilter;
  use: VisibilityUse;
}

interface Page {
  operations: ListedOperation[];
  next: Uint8Array | undefined;
}

/** Reads until the page is full: only the current run of each operation counts. */
async function readPage(list: List, limit: number, from?: Uint8Array): Promise<Page> {
  const { temporal, query } = list;
  const operations: ListedOperation[] = [];
  let next = from;
  let reads = 0;
  do {
    const page = await listRuns(temporal, list.use, query, limit - operations.length, next);
    list.use = 'rest of a list';
    operations.push(...(await listedOperations(list, page.infos)));
    next = page.next;
    reads += 1;
  } while (next && operations.length < limit && reads < MAX_READS_PER_PAGE);
  return { operations, next };
}

/** Operations that recently continued as new, without a listed current run when the page was read. The last page keeps them anyway. */
async function missingOperations(list: List, filter: ListFilter, page: Page): Promise<ListedOperation[]> {
  const { temporal, principal } = list;
  if (filter.status !== undefined && filter.status !== 'open' && isTerminal(filter.status)) return [];
  const { infos } = await listRuns(
    temporal,
    'rest of a list',
    justContinuedQuery(principal, filter, await temporal.nowMs()),
    JUST_CONTINUED_RUNS,
  );
  const tokens = new Set(page.operations.map(({ token }) => token));
  const isMissing = ({ execution }: RunInfo) => {
    const workflowId = execution?.workflowId ?? '';
    return !tokens.has(workflowId) && !tokens.has(tokenOf(principal, workflowId));
  };
  return listedOperations(list, infos.filter(isMissing), page.next === undefined);
}

async function listedOperations(
  list: List,
  infos: RunInfo[],
  keepListed = false,
): Promise<ListedOperation[]> {
  const runs = await currentRuns(list.temporal, infos, keepListed);
  const listed = await Promise.all(runs.map((run) => listedOperation(list, run)));
  return listed.filter((one) => one !== undefined).filter((one) => matchesFilters(one, list.filters));
}

/** Checks filters on the operation: its run may be newer, and its current run's status may differ from the listed one. */
function matchesFilters(listed: ListedOperation, { status, createdAfter }: AdoptedFilter): boolean {
  if (createdAfter !== undefined && listed.createdAt <= createdAfter) return false;
  if (status === undefined) return true;
  return status === 'open' ? !isTerminal(listed.status) : listed.status === status;
}

/** Whether a cursor belongs to this list. With a cursor, you may omit the filters, but only all of them. */
function isOfList(
  cursor: ListCursor | undefined,
  principal: string,
  { wholeTenant = false }: ListFilter,
  given: string,
): boolean {
  if (cursor?.principal !== principal || cursor.wholeTenant !== wholeTenant) return false;
  return given === NO_FILTERS || given === cursor.given;
}

const NO_FILTERS = JSON.stringify([undefined, undefined, undefined, undefined]);
