/** Selects the log for a query, the operation's own or a step's, and reads several of its pages as text. */
import {
  OPERATION_LOG,
  type LogPage,
  type LogQuery,
  TEXT_CHARACTERS,
} from '../../operations/wire/log-page.js';
import type { OperationRecord } from '../../operations/record.js';
import type { Storage } from '../../platform/storage/index.js';
import type { Tools } from '../../platform/project/tools.js';
import { type LiveQueries, withPageOf } from '../read/live.js';
import { readOperationLog, readStepLog, wantedLog } from './index.js';

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

/** A step's log needs a live read, since only a worker knows the steps. */
export async function selectLog(
  { storage, tools, live, workflowId, read, readLive }: LogSources,
  query: LogQuery,
): Promise<SelectedLog> {
  const wanted = wantedLog(query);
  const record = await read();
  const isOwn =
    wanted === OPERATION_LOG || (wanted === undefined && tools.get(record.tool)?.isPipeline === false);
  if (isOwn) return { record, readPage: (next) => readOperationLog(storage, workflowId, record, next) };
  const complete = await readLive();
  const children = complete.children && (await withPageOf(live, complete.children, wanted));
  const whole = { ...complete, ...(children ? { children } : {}) };
  return { record: complete, readPage: (next) => readStepLog(storage, workflowId, whole, next) };
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
