/** Selects the log for a query, the operation's own or a step's, and reads several of its pages as text. */
import {
  OPERATION_LOG,
  type LogPage,
  type LogQuery,
  TEXT_CHARACTERS,
} from '../../operations/wire/log-page.js';
import { LonghaulError } from '../../operations/errors.js';
import { defined } from '../../operations/json/defined.js';
import { chooseStep, isStepEnded, stepReference, type ChosenStep } from '../../operations/steps.js';
import type { OperationRecord } from '../../operations/record.js';
import { ChunkedLog } from '../../platform/storage/chunked-log.js';
import { operationLogPrefix, stepLogPrefix } from '../../platform/storage/keys.js';
import type { Storage } from '../../platform/storage/index.js';
import type { Tools } from '../../platform/project/tools.js';
import { type LiveQueries, withPageOf } from '../read/live.js';
import { cursorOf, readLogPage, type PageQuery } from './index.js';

interface LogSources {
  storage: Storage;
  tools: Tools;
  live: LiveQueries;
  workflowId: string;
  read: () => Promise<OperationRecord>;
  readLive: () => Promise<OperationRecord>;
}

export interface SelectedLog {
  record: OperationRecord;
  readPage: (query: LogQuery) => Promise<LogPage>;
}

/**
 * Selects a log. A step's needs a live read, since only a worker knows the steps.
 *
 * @throws LonghaulError `invalid_arguments`, `not_found` if there is no log, `expired`, `unavailable`
 */
export async function selectLog(
  { storage, tools, live, workflowId, read, readLive }: LogSources,
  query: LogQuery,
): Promise<SelectedLog> {
  const wanted = query.step ?? cursorOf(query)?.step;
  const record = await read();
  if (wanted === OPERATION_LOG || (wanted === undefined && tools.get(record.tool)?.isPipeline === false)) {
    assertKept(record);
    const log = new ChunkedLog(storage, operationLogPrefix(workflowId));
    const state = { isComplete: record.closedAt !== undefined, mayBeMissing: true };
    return { record, readPage: pagesOf(log, { step: OPERATION_LOG }, state) };
  }
  const complete = await readLive();
  assertKept(complete);
  const children = complete.children && (await withPageOf(live, complete.children, wanted));
  const chosen = children ? chooseStep(children, wanted) : chooseWithoutRecord(complete, wanted);
  const step = stepReference(chosen);
  const { status, name, logsOf, startedAt } = chosen.step ?? {};
  if (status && startedAt === undefined) {
    const why = isStepEnded({ status }) ? 'was not run' : 'has not started yet';
    throw new LonghaulError('not_found', `step ${step}: it ${why}, so there is no log`);
  }
  const log = new ChunkedLog(storage, stepLogPrefix(logsOf ?? workflowId, chosen.child, chosen.position));
  const isComplete = complete.closedAt !== undefined || (status !== undefined && isStepEnded({ status }));
  const state = { isComplete, mayBeMissing: status !== undefined };
  return { record: complete, readPage: pagesOf(log, { step, ...defined({ name, status }) }, state) };
}

function pagesOf(
  log: ChunkedLog,
  about: Pick<LogPage, 'step' | 'name' | 'status'>,
  state: Pick<PageQuery, 'isComplete' | 'mayBeMissing'>,
): SelectedLog['readPage'] {
  const { step } = about;
  return async (query) => {
    const cursor = cursorOf(query);
    if (cursor?.step !== undefined && cursor.step !== step)
      throw new LonghaulError(
        'invalid_arguments',
        `cursor: belongs to the step ${cursor.step}; got step ${step}`,
      );
    return { ...about, ...(await readLogPage(log, { ...query, ...state, step })) };
  };
}

function assertKept({ status, token }: OperationRecord): void {
  if (status === 'expired') throw new LonghaulError('expired', `${token}: the operation has expired`);
}

/** Chooses a step by its position while the steps aren't known. */
function chooseWithoutRecord(
  record: OperationRecord,
  wanted: string | undefined,
): Omit<ChosenStep, 'step'> & { step?: undefined } {
  const [, child, position] = /^([^/]+)\/([1-9]\d{0,3})$/.exec(wanted ?? '') ?? [];
  if (child && position) return { child, position: Number(position) };
  if ((record.live || record.closedAt) && !record.areChildrenLarge)
    throw new LonghaulError(
      'not_found',
      `${record.token}: no steps are known; only pipelines have steps with logs. The operation's own log is the step "${OPERATION_LOG}"`,
    );
  const why = record.closedAt
    ? "the list of its steps can't be read from storage:"
    : "no worker is available, so its steps aren't known; try again shortly, or";
  throw new LonghaulError(
    'unavailable',
    `${record.token}: ${why} name the step by its position, as in build/2`,
    record.closedAt ? { retryable: false } : {},
  );
}

/** Concatenated lines of a log. The last has no line end if it is cut or still growing. */
export interface LogText extends Omit<LogPage, 'lines'> {
  text: string;
  /** Numbers of the first and last lines; missing if there are none. */
  first?: number;
  last?: number;
  /** Whether the text begins in the middle of the first line. */
  isContinued?: true;
}

/** Reads up to {@link TEXT_CHARACTERS}. @param query with a `limit`, only one page @throws LonghaulError as `readPage` does */
export async function readLogText(
  readPage: (query: LogQuery) => Promise<LogPage>,
  query: LogQuery,
): Promise<LogText> {
  let page = await readPage(query);
  const { step } = page;
  const start = page.lines[0];
  let last = page.lines.at(-1)?.number;
  let text = textOf(page);
  while (
    query.limit === undefined &&
    page.cursor !== undefined &&
    !page.isAtEnd &&
    text.length < TEXT_CHARACTERS
  ) {
    page = await readPage({ step, cursor: page.cursor });
    text += textOf(page);
    last = page.lines.at(-1)?.number ?? last;
  }
  const { lines: _lines, ...end } = page;
  return {
    ...end,
    text,
    ...(start === undefined || last === undefined ? {} : { first: start.number, last }),
    ...(start?.isContinued ? { isContinued: true } : {}),
  };
}

function textOf({ lines }: LogPage): string {
  return lines.map(({ text, isUnfinished }) => (isUnfinished ? text : `${text}\n`)).join('');
}
