/** Formats a pipeline's jobs and steps. */
import type { StepRecord, UnsavedArtifact } from '../../operations/record.js';
import { elapsed } from './status-line.js';
import { oneLine, textTable } from './table.js';
import type { Child } from '../client/wire.js';

/** With more steps, shows only those of jobs that run, wait or went wrong. */
const ALL_STEPS = 40;
const QUIET = new Set(['pending', 'completed', 'skipped']);

/** A line for each job, and below it its steps. */
export function stepsTree(children: Child[], nowMs: number = Date.now()): string {
  const count = children.reduce((sum, { steps }) => sum + steps.length, 0);
  const rows = children.flatMap((child) => {
    const isOpened = count <= ALL_STEPS || !QUIET.has(child.status);
    const steps = isOpened ? child.steps.map((step, index) => stepRow(step, index + 1, nowMs)) : [];
    return [jobRow(child), ...steps, ...(child.unsavedArtifacts ?? []).map(unsavedRow)];
  });
  return ['jobs', textTable(rows)].join('\n');
}

function jobRow({ name, status, statusMessage, steps }: Child): string[] {
  const done = steps.filter((step) => step.status === 'completed').length;
  // A page of items lists its steps elsewhere.
  const words =
    statusMessage ?? (QUIET.has(status) || steps.length === 0 ? '' : `${done} of ${steps.length} steps`);
  return [`  ${name}`, status, oneLine(words)];
}

function unsavedRow({ path, reason }: UnsavedArtifact): string[] {
  return [`    ${oneLine(path)}`, 'not saved', oneLine(reason)];
}

function stepRow(
  { name, status, exitCode, startedAt, closedAt, logsOf }: StepRecord,
  number: number,
  nowMs: number,
): string[] {
  const isOver = closedAt !== undefined || QUIET.has(status);
  const end = closedAt === undefined ? nowMs : Date.parse(closedAt);
  const facts = [
    exitCode === undefined || exitCode === 0 ? undefined : `exit code ${exitCode}`,
    startedAt === undefined || (isOver && closedAt === undefined)
      ? undefined
      : elapsed(end - Date.parse(startedAt)),
    logsOf === undefined ? undefined : 'in an earlier operation',
  ];
  const label = name === `step ${number}` ? name : `${number} ${oneLine(name)}`;
  return [`    ${label}`, status, facts.filter(Boolean).join(', ')];
}
