/** Progress of a pipeline: the number of its finished steps. */
import type { ChildRecord, StepRecord } from '../../operations/record.js';
import { progress } from '../runtime/index.js';

/** Records of all children. Module state is per execution: the sandbox gives each its own modules. */
let children: ChildRecord[] = [];

/** The latest end of a step, for people: `build / compile: completed`. */
let lastStep: string | undefined;

let closedSteps = 0;

/** Counts the steps of an ended page, because its records aren't here. */
export function countClosedSteps(count: number): void {
  closedSteps += count;
}

/** @param records of all children; call it before {@link showProgress} */
export function countStepsOf(records: ChildRecord[]): void {
  children = records;
}

/** Counts the steps that need no more work. Skipped ones count too, to reach the total; the message says how many they are. */
export function showProgress(step?: string): void {
  lastStep = step ?? lastStep;
  const steps = children.flatMap((record) => record.steps);
  const isLeft = ({ status }: StepRecord) => ['pending', 'working', 'input_required'].includes(status);
  const finished = closedSteps + steps.filter((one) => !isLeft(one)).length;
  const skipped = steps.filter(({ status }) => status === 'skipped').length;
  const message = [skipped > 0 ? `${skipped} skipped` : undefined, lastStep].filter(Boolean).join('; ');
  progress({ progress: finished, message: message || undefined });
}
