/** References to an operation's steps. */
import { LonghaulError } from './errors.js';
import { isOpenPart, type ChildRecord, type ChildStatus, type StepRecord } from './record.js';

export interface ChosenStep {
  /** Name of its job, with the item's position: `test[3]`. */
  child: string;
  /** From 1. */
  position: number;
  step: StepRecord;
}

type WithSteps = Pick<ChildRecord, 'name' | 'steps'>;

const NAMED_STEPS = 30;

/** Whether the step has ended, so its log no longer grows. */
export function isStepEnded({ status }: { status: ChildStatus }): boolean {
  return !isOpenPart(status);
}

/** Reference of a step in answers and requests: `build/2`. */
export function stepReference({ child, position }: { child: string; position: number }): string {
  return `${child}/${position}`;
}

/** The steps in order, or only the given job's. */
export function stepsOf(children: WithSteps[], job?: string): ChosenStep[] {
  return children
    .filter(({ name }) => job === undefined || name === job || name.replace(/\[\d+\]$/, '') === job)
    .flatMap(({ name, steps }) => steps.map((step, index) => ({ child: name, position: index + 1, step })));
}

/**
 * Finds a step.
 *
 * @param reference `job/2`, `job/Step name` or `test[3]/1`. With `job` or undefined: the latest matching step that runs, else waits for an
 *   answer, else failed, else any
 * @throws LonghaulError `invalid_arguments` that lists the steps there are, `not_found` when none has started
 */
export function chooseStep(children: WithSteps[], reference?: string): ChosenStep {
  if (reference === undefined) return likeliest(stepsOf(children), 'no step has started yet');
  const ofJob = stepsOf(children, reference);
  if (ofJob.length) return likeliest(ofJob, `no step of ${reference} has started yet`);
  const slash = reference.indexOf('/');
  const [job, step] = slash < 0 ? [reference, ''] : [reference.slice(0, slash), reference.slice(slash + 1)];
  const candidates = stepsOf(children, job);
  const byPosition = candidates.filter(({ position }) => String(position) === step);
  const found = byPosition.length ? byPosition : candidates.filter((one) => one.step.name === step);
  if (found.length === 1) return found[0]!;
  throw new LonghaulError(
    'invalid_arguments',
    found.length
      ? `step: expected one step; got ${JSON.stringify(reference)}, which is any of ${listOf(found)}`
      : `step: expected one of ${listOf(candidates.length ? candidates : stepsOf(children))}; got ${JSON.stringify(reference)}`,
  );
}

/** The step to show by default; undefined if none has started. */
export function defaultStep(steps: ChosenStep[]): ChosenStep | undefined {
  const started = steps
    .filter(({ step }) => step.startedAt !== undefined)
    .sort((one, other) => (one.step.startedAt! < other.step.startedAt! ? -1 : 1));
  return (
    started.findLast(({ step }) => step.status === 'working') ??
    started.findLast(({ step }) => step.status === 'input_required') ??
    started.findLast(({ step }) => step.status === 'failed' || step.status === 'timed_out') ??
    started.at(-1)
  );
}

function likeliest(steps: ChosenStep[], message: string): ChosenStep {
  const chosen = defaultStep(steps);
  if (chosen) return chosen;
  throw new LonghaulError('not_found', `${message}, so there is no log; the steps are ${listOf(steps)}`);
}

function listOf(steps: ChosenStep[]): string {
  const named = steps.slice(0, NAMED_STEPS).map((one) => {
    const { name, status } = one.step;
    return `${stepReference(one)} (${name === `step ${one.position}` ? '' : `${JSON.stringify(name)}, `}${status})`;
  });
  const more = steps.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ') || 'none';
}
