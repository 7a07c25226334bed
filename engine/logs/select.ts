/** Selects the log for a query: the operation's own, or a step's. */
import { OPERATION_LOG, type LogPage, type LogQuery } from '../../operations/log-page.js';
import type { OperationRecord } from '../../operations/record.js';
import type { Storage } from '../../platform/storage/index.js';
import type { Tools } from '../../platform/tools.js';
import { type LiveQueries, withPageOf } from '../live.js';
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
