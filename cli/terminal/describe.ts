/** Formats operations: one in full, many as a table. */
import { answerInstructions, noteOf } from '../questions/answers.js';
import type { Session } from '../client/session.js';
import { elapsed } from './status-line.js';
import { stepsTree } from './steps-tree.js';
import { oneLine, textTable } from './table.js';
import {
  answersOf,
  isClosed,
  progressOf,
  statusNote,
  traceIdOf,
  temporalUrlOf,
  type Child,
  type ListedOperation,
  type Task,
} from '../client/wire.js';

export function describeTask(session: Session, task: Task, children?: Child[]): string {
  const { progress, total, message, stage } = progressOf(task);
  const numbers =
    progress === undefined ? undefined : `${progress}${total === undefined ? '' : ` of ${total}`}`;
  const rows: [string, string | undefined][] = [
    ['token', task.taskId],
    ['status', task.status],
    ['says', task.error?.message ?? statusNote(task)],
    ['stage', stage],
    ['progress', [numbers, message].filter(Boolean).join(', ')],
    [
      'answered',
      answersOf(task)
        .map(
          ({ key, action, isDefault, ...outcome }) =>
            `${key}: ${isDefault ? 'the default, since nobody answered in time' : action}${noteOf(outcome)}`,
        )
        .join('; '),
    ],
    ['trace', traceIdOf(task)],
    ['started', task.createdAt],
    ['changed', task.lastUpdatedAt],
    [
      'kept until',
      task.ttlMs === null ? undefined : new Date(Date.parse(task.createdAt) + task.ttlMs).toISOString(),
    ],
  ];
  const shown = rows.flatMap(([name, value]) => (value ? [[name, oneLine(value)]] : []));
  // Not wrapped, so you can copy it.
  const hint = isClosed(task) && task.result ? session.hint('result', task.taskId) : undefined;
  const labelWidth = Math.max(...shown.map(([name = '']) => name.length));
  const result = hint === undefined ? [] : [`${'result'.padEnd(labelWidth)}  ${hint}`];
  // Not wrapped either.
  const url = temporalUrlOf(task);
  if (url !== undefined) result.push(`${'temporal'.padEnd(labelWidth)}  ${url}`);
  const questions = Object.entries(task.inputRequests ?? {}).flatMap(([key, question]) =>
    answerInstructions(session, task.taskId, key, question),
  );
  const jobs = children ? [stepsTree(children)] : [];
  return [textTable(shown), ...result, ...jobs, ...questions].join('\n');
}

export function operationsTable(operations: ListedOperation[]): string {
  const hasOthers = operations.some(({ owner }) => owner !== undefined);
  const rows = operations.map(({ token, owner, tool, status, stage, createdAt, closedAt, problem }) => [
    token,
    ...(hasOthers ? [owner ?? ''] : []),
    tool,
    status,
    oneLine([stage, problem].filter(Boolean).join('; ')),
    createdAt.replace(/\.\d+Z$/, 'Z'),
    elapsed((closedAt ? Date.parse(closedAt) : Date.now()) - Date.parse(createdAt)),
  ]);
  return textTable([
    ['TOKEN', ...(hasOthers ? ['OWNER'] : []), 'TOOL', 'STATUS', 'STAGE', 'STARTED', 'TOOK'],
    ...rows,
  ]);
}
