/**
 * Large partial results and children, which a describe lacks. Children are queried while a workflow is open, later in its memo or storage.
 * Each page of children, a range of a job's items, has a workflow with their records.
 */
import { isKind, LonghaulError, undefinedIf } from '../../operations/errors.js';
import {
  isTerminal,
  type ChildRecord,
  type OperationRecord,
  type PageRange,
} from '../../operations/record.js';
import { OPERATION_QUERY } from '../../operations/wire/index.js';
import {
  CHILDREN_MEMO,
  PARTIAL_MEMO,
  publishedState,
  type PublishedState,
} from '../../operations/wire/state.js';
import { mergeParts } from './parts.js';
import type { StoredValues } from './values.js';
import type { TemporalClient } from '../temporal/client.js';

export class LiveQueries {
  readonly #pending = new Map<string, Promise<PublishedState>>();

  constructor(
    private readonly temporal: TemporalClient,
    private readonly values: StoredValues,
  ) {}

  /** Completes a record with the workflow's data. Returns it unchanged, with `live: false`, if no worker answers or the data is lost. */
  async complete(record: OperationRecord, workflowId: string): Promise<OperationRecord> {
    // A terminated operation couldn't write its children into its memo.
    const isPartly = record.areChildrenLarge || record.isPartialLarge || record.error?.kind === 'terminated';
    const isClosed = isTerminal(record.status);
    if (record.status === 'expired' || (isClosed && !isPartly)) return record;
    try {
      const { partial, children } = await (isClosed ? this.#read(workflowId) : this.#query(workflowId));
      const { areChildrenLarge: _children, isPartialLarge: _partial, ...rest } = record;
      return {
        ...rest,
        ...(partial === undefined ? {} : { partial }),
        ...(children === undefined ? {} : { children: mergeParts(children, record.children) }),
        live: true,
      };
    } catch {
      return record;
    }
  }

  /** Completes a record with its partial result alone. Asks the workflow only if its worker has no storage. Fails as {@link complete}. */
  async completePartial(record: OperationRecord, workflowId: string): Promise<OperationRecord> {
    if (!record.isPartialLarge) return record;
    try {
      const left = publishedState((await this.temporal.describe(workflowId)).memo) ?? {};
      const isStored = left.claims?.[PARTIAL_MEMO] !== undefined;
      const { partial } = isStored
        ? await this.values.add(left, [PARTIAL_MEMO])
        : await this.#query(workflowId);
      const { isPartialLarge: _partial, ...rest } = record;
      return partial === undefined ? record : { ...rest, partial };
    } catch {
      return record;
    }
  }

  /** A part's children; undefined if it is open without a worker. @throws LonghaulError `internal` if it's closed, and storage lost them */
  async children(workflowId: string): Promise<ChildRecord[] | undefined> {
    return this.#read(workflowId).then(
      ({ children = [] }) => children,
      (error: unknown) => {
        if (isKind(error, 'internal')) throw error;
        return undefined;
      },
    );
  }

  /** Reads what a closed workflow has left; otherwise queries it. */
  async #read(workflowId: string): Promise<PublishedState> {
    const { memo, closeTime } = await this.temporal.describe(workflowId);
    if (!closeTime) return this.#query(workflowId);
    const left = await this.values.add(publishedState(memo) ?? {}, [PARTIAL_MEMO, CHILDREN_MEMO]);
    return left.children ? left : this.#query(workflowId);
  }

  /** Concurrent callers share a query: Temporal buffers one per workflow. */
  #query(workflowId: string): Promise<PublishedState> {
    const query =
      this.#pending.get(workflowId) ??
      this.temporal
        .call((client) => client.workflow.getHandle(workflowId).query(OPERATION_QUERY))
        .finally(() => this.#pending.delete(workflowId));
    this.#pending.set(workflowId, query);
    return query;
  }
}

const NAMED_PAGES = 20;

/**
 * Reads the children of a page.
 *
 * @param record from a live read
 * @throws LonghaulError `invalid_arguments` for a name that isn't a page's; `unavailable` if it is open and no worker answers; `internal`
 *   if it is closed, and its children are no longer in storage
 */
export async function readPage(
  live: LiveQueries,
  record: OperationRecord,
  name: string,
): Promise<ChildRecord[]> {
  const { token, children = [] } = record;
  const page = children.find((child) => child.name === name)?.page;
  if (page) {
    const own = page.workflowId === undefined ? [] : await live.children(page.workflowId);
    if (own) return own;
    throw new LonghaulError(
      'unavailable',
      `${token}: no worker is available, so the items of this page aren't known; try again shortly`,
    );
  }
  const pages = children.filter(({ page }) => page).map((child) => child.name);
  const named = `${pages.slice(0, NAMED_PAGES).join(', ')}${pages.length > NAMED_PAGES ? ', ...' : ''}`;
  throw new LonghaulError(
    'invalid_arguments',
    pages.length > 0
      ? `expected the name of a page, one of ${named}; got ${JSON.stringify(name)}`
      : `${token} has no pages: all of its parts are listed; got ${JSON.stringify(name)}`,
  );
}

/**
 * Adds the children of the page that a step reference means: the page with the item, or else one that runs, failed, or started last.
 *
 * @param reference e.g. `test[3]/1`, or `test`; undefined: any step
 */
export async function withPageOf(
  live: LiveQueries,
  children: ChildRecord[],
  reference: string | undefined,
): Promise<ChildRecord[]> {
  const page = pageOf(children, reference);
  const own =
    page?.workflowId === undefined
      ? undefined
      : await live.children(page.workflowId).catch(undefinedIf('internal'));
  return own ? [...children, ...own] : children;
}

function pageOf(children: ChildRecord[], reference: string | undefined): PageRange | undefined {
  const [, job, index] = /^([^[/]+)(?:\[(\d+)\])?/.exec(reference ?? '') ?? [];
  const rows = children.filter(
    ({ page }) =>
      page?.workflowId !== undefined &&
      (job === undefined || page.job === job) &&
      (index === undefined || (Number(index) >= page.from && Number(index) < page.from + page.count)),
  );
  const row =
    rows.find(({ status }) => status === 'working') ??
    rows.findLast(({ status }) => status === 'failed' || status === 'timed_out') ??
    rows.at(-1);
  return row?.page;
}
