/**
 * Priority and fairness of an operation's tasks (docs.temporal.io, "Task Queue Priority and Fairness"). Activities, child workflows and
 * continued runs inherit them. Servers without the feature ignore the field.
 */
import { createHash } from 'node:crypto';
import type { Priority } from '@temporalio/common';
import { ANONYMOUS, type StartMemo } from '../operations/wire.js';

/** Maximum length of a fairness key, in bytes. */
const LONGEST_KEY = 64;

/** Undefined if neither is needed: a single caller needs no fairness. */
export function priorityOf({
  principal,
  priority,
}: Pick<StartMemo, 'principal' | 'priority'>): Priority | undefined {
  const fairnessKey = principal === ANONYMOUS ? undefined : fairnessKeyOf(principal);
  if (fairnessKey === undefined && priority === undefined) return undefined;
  return { priorityKey: priority, fairnessKey };
}

/** Principals are ASCII, since both parts are percent-encoded. */
function fairnessKeyOf(principal: string): string {
  if (principal.length <= LONGEST_KEY) return principal;
  return createHash('sha256').update(principal).digest('hex');
}
