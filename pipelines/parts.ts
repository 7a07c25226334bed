/** Records of a pipeline's parts: its jobs, their items, and pages of items. */
import type { ChildRecord, StepRecord } from '../operations/record.js';
import type { Job } from './pipeline.js';

export function pendingSteps({ steps }: Job): StepRecord[] {
  return steps.map(({ name }) => ({ name, status: 'pending' }));
}

/** Name of the job of the part `test`, `test[3]` or `test[0-249]`. */
export function jobOf(part: string): string {
  return part.replace(/\[\d+(-\d+)?\]$/, '');
}

export function pageHas({ page }: ChildRecord, child: string): boolean {
  const index = Number(/\[(\d+)\]$/.exec(child)?.[1] ?? -1);
  return page?.job === jobOf(child) && index >= page.from && index < page.from + page.count;
}
