/** The parts of a job: one child, one for each item, or pages of items. */
import type { ChildRecord } from '../../operations/record.js';
import type { ArtifactReference, ChildFailure } from '../../pipelines/run.js';
import type { Cleanup } from '../runtime/index.js';

export interface SharedInputs {
  /** The operation's inputs; missing when they are large. */
  inputs: Record<string, unknown> | undefined;
  /** When the operation was created, ISO 8601. */
  createdAt: string | undefined;
  /** Digest that its approvals are given for; missing if nothing asks for one. */
  approvedFor: string | undefined;
}

/** A child in the pipeline's own history, or a page of children. */
export interface JobPart {
  readonly record: ChildRecord;
  /** Whether any of it has yet to run. */
  readonly hasWork: boolean;
  /** Asks again for approvals given for other inputs or another pipeline. @param areJobsBehind whether dependent jobs have yet to run */
  holdGates(areJobsBehind: boolean): void;
  skip(): void;
  /** The failed children, in order; a page names its first ones. */
  failures(): ChildFailure[];
  readonly failureCount: number;
  artifacts(): ArtifactReference[];
  /** Values of an output, one per child; null where its steps wrote none. */
  outputs(key: string): (string | null)[];
  endUnfinished(reason: 'canceled' | 'timed_out' | 'failed'): Promise<void>;
}

/** Side by side, because several may be on hosts that don't answer. */
export async function endParts(
  parts: readonly Pick<JobPart, 'endUnfinished'>[],
  reason: Parameters<Cleanup>[0],
): Promise<void> {
  const settled = await Promise.allSettled(parts.map((part) => part.endUnfinished(reason)));
  for (const ended of settled) if (ended.status === 'rejected') throw ended.reason;
}
