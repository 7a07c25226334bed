/** Pages of an operation's children: ranges of a job's items. Each page's own workflow has the records. */
import { LonghaulError, undefinedIf } from '../operations/errors.js';
import type { ChildRecord, OperationRecord, PageRange } from '../operations/record.js';
import type { LiveQueries } from './live.js';

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
  const row = children.find((child) => child.name === name);
  if (row?.page) return row.page.workflowId === undefined ? [] : childrenOf(live, token, row.page.workflowId);
  const pages = children.filter(({ page }) => page).map((child) => child.name);
  const named = `${pages.slice(0, NAMED_PAGES).join(', ')}${pages.length > NAMED_PAGES ? ', ...' : ''}`;
  throw new LonghaulError(
    'invalid_arguments',
    pages.length > 0
      ? `expected the name of a page, one of ${named}; got ${JSON.stringify(name)}`
      : `${token} has no pages: all of its parts are listed; got ${JSON.stringify(name)}`,
  );
}

async function childrenOf(live: LiveQueries, token: string, workflowId: string): Promise<ChildRecord[]> {
  const children = await live.children(workflowId);
  if (children) return children;
  throw new LonghaulError(
    'unavailable',
    `${token}: no worker is available, so the items of this page aren't known; try again shortly`,
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
