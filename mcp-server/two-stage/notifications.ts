/** notifications/progress and notifications/tool_result for a job. */
import type { Guard } from '../guard.js';
import { isTerminal, type OperationRecord } from '../../operations/record.js';
import type { Follower, Send } from '../sessions/session-notifier.js';
import { isAsking, questionsField, progressShare, progressText, renderJobResult } from './render.js';
import { DeliveredJobs } from './delivered-jobs.js';

/** Shortest time between two notifications of a job's progress, in milliseconds. */
const PROGRESS_INTERVAL_MS = 1_000;

export interface JobListener {
  engine: Guard;
  send: Send;
  /** Progress and results that the stream has already delivered. Default: none. */
  delivered?: DeliveredJobs;
  /** Additional fields of a job's notifications. Default: none. */
  fields?: (record: OperationRecord) => object;
}

/**
 * Sends a listener one job's progress and open questions, at most once a second and never decreasing, and its result once. Progress
 * within a second of the last notification waits, and newer progress replaces it.
 */
export function followJob({
  engine,
  send,
  delivered = new DeliveredJobs(() => engine.heardNowMs),
  fields = () => ({}),
}: JobListener): Follower {
  let last = '';
  /** The highest progress, with its text. A later attempt starts below it. */
  let furthest = { done: -Infinity, message: '' };
  let lastAt = -Infinity;
  let waiting: OperationRecord | undefined;
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
    waiting = undefined;
  };
  /** Number and text come from the same attempt: while a later one is behind, the text stays as well. */
  const textOf = (record: OperationRecord): string => {
    const message = progressText(record);
    if (isAsking(record)) return message;
    const done = record.progress?.progress ?? 0;
    if (done >= furthest.done) furthest = { done, message };
    return furthest.message;
  };
  const sendProgress = async (record: OperationRecord): Promise<void> => {
    const deliveredBefore = delivered.progressOf(record.token);
    const before = deliveredBefore === true ? 1 : deliveredBefore;
    const progress = Math.max(progressShare(record), before ?? 0);
    const message = textOf(record);
    const open = questionsField(record);
    const fingerprint = JSON.stringify([progress, message, open.questions?.map(({ key }) => key)]);
    if (fingerprint === last) return;
    last = fingerprint;
    lastAt = performance.now();
    delivered.markDelivered(record.token, progress);
    // MCP's notification of this name needs a progress token and an increasing number. Without them this is the two-stage one.
    const progressToken = progress > (before ?? -1) ? record.progressToken : undefined;
    await send({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: {
        job_id: record.token,
        progress,
        message,
        timestamp: record.updatedAt,
        ...open,
        ...fields(record),
        ...(progressToken === undefined ? {} : { progressToken, total: 1 }),
      },
    });
  };
  const throttleProgress = async (record: OperationRecord): Promise<void> => {
    const pauseMs = lastAt + PROGRESS_INTERVAL_MS - performance.now();
    if (pauseMs <= 0 && !timer) return sendProgress(record);
    waiting = record;
    timer ??= setTimeout(() => {
      const next = waiting;
      stop();
      if (next) void sendProgress(next).catch(() => undefined);
    }, pauseMs);
  };
  return {
    async notify(record) {
      if (!isTerminal(record.status)) {
        await throttleProgress(record);
        return false;
      }
      stop();
      const { token, closedAt = record.updatedAt } = record;
      if (record.status === 'expired' || delivered.isResultDelivered(token, closedAt)) return true;
      delivered.markDelivered(token, true);
      await send({
        jsonrpc: '2.0',
        method: 'notifications/tool_result',
        params: {
          job_id: token,
          result: renderJobResult(record, engine.tools.get(record.tool)),
          timestamp: closedAt,
          ...fields(record),
        },
      });
      return true;
    },
    close: stop,
  };
}
