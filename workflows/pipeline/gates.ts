/**
 * Approvals as gates: `if: success` steps and jobs behind one run only if it was approved for the same pipeline and inputs. A
 * resume that changes inputs, or begins behind a missing approval, asks for it first. Steps and jobs with `if: always` or `if:
 * failure` run even after a declined approval, so no gate holds them.
 */
import type { ChildRecord } from '../../operations/record.js';
import { digestOfJson } from '../../operations/wire/signatures.js';
import type { Job, Pipeline, Step } from '../../pipelines/pipeline.js';

/** Digest of the pipeline's file and the inputs that approvals are given for; undefined without approvals. */
export function approvedFor(pipeline: Pipeline, inputs: Record<string, unknown>): string | undefined {
  return Object.values(pipeline.jobs).some(hasGates) ? digestOfJson([pipeline, inputs]) : undefined;
}

/** Whether the steps behind it run only if it is approved. */
function isGate({ approval, if: condition, continueOnError }: Step): boolean {
  return approval !== undefined && condition !== 'failure' && !continueOnError;
}

export function hasGates({ steps }: Job): boolean {
  return steps.some(isGate);
}

/** Positions of the approvals, from 0, that a resumed child has to ask for again. @param wanted the digest to approve */
export function gatesToPass(
  { steps }: Job,
  { steps: records }: ChildRecord,
  wanted: string | undefined,
  areJobsBehind: boolean,
): number[] {
  const last = steps.findLastIndex(
    ({ if: condition }, at) => condition === 'success' && records[at]!.status === 'pending',
  );
  const isBehind = (at: number) => areJobsBehind || at < last;
  return steps.flatMap((step, at) => {
    const { status, approvedFor: given } = records[at]!;
    const isGiven = given !== undefined && given === wanted;
    return isGate(step) && status !== 'pending' && !isGiven && isBehind(at) ? [at] : [];
  });
}

/** Jobs that must have succeeded, directly or indirectly, before jobs that have yet to run. */
export function jobsBeforeWork({ jobs }: Pipeline, hasWork: (job: string) => boolean): Set<string> {
  const before = new Set<string>();
  const add = (name: string) => {
    const { needs, if: condition } = jobs[name]!;
    if (condition !== 'success') return;
    for (const need of needs) {
      if (before.has(need)) continue;
      before.add(need);
      add(need);
    }
  };
  for (const name of Object.keys(jobs)) if (hasWork(name)) add(name);
  return before;
}
