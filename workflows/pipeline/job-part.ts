/** The parts of a job: one child, or one for each item, or pages of items. */
import type { ChildRecord } from '../../operations/record.js';
import type { ArtifactReference, ChildFailure } from '../../pipelines/run.js';

/** Arguments that all children of an operation have in common. */
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
  /** Whether anything of it has yet to run. */
  readonly hasWork: boolean;
  /**
   * Has approvals of an earlier operation asked for again that were not given for the same pipeline and inputs.
   *
   * @param areJobsBehind whether jobs that need the success of this one have yet to run
   */
  holdGates(areJobsBehind: boolean): void;
  skip(): void;
  /** The failed children, in their order; a page names the first of its own. */
  failures(): ChildFailure[];
  readonly failureCount: number;
  artifacts(): ArtifactReference[];
  /** Values of an output, one for each child; null where its steps wrote none. */
  outputs(key: string): (string | null)[];
  endUnfinished(reason: 'canceled' | 'timed_out' | 'failed'): Promise<void>;
}
