/** Data that only an operation's workflow holds: large partial results, children. Reading it needs a worker. */
import { isTerminal, type OperationRecord } from '../operations/record.js';
import { OPERATION_QUERY, type StateMemo } from '../operations/wire.js';
import { mergeParts } from './parts.js';
import type { TemporalClient } from './temporal.js';

export class LiveQueries {
  readonly #underWay = new Map<string, Promise<StateMemo>>();

  constructor(private readonly temporal: TemporalClient) {}

  /** Completes a record from its workflow; returns it unchanged, with `live: false`, when no worker answers. */
  async complete(record: OperationRecord, workflowId: string): Promise<OperationRecord> {
    // An operation that was terminated had no chance to write its children into its memo.
    const isQueried = record.areChildrenLarge || record.error?.kind === 'terminated';
    if (record.status === 'expired' || (isTerminal(record.status) && !isQueried)) return record;
    try {
      const { partial, children } = await this.#query(workflowId);
      const { areChildrenLarge: _read, ...rest } = record;
      return {
        ...rest,
        ...(partial === undefined ? {} : { partial }),
        ...(children === undefined ? {} : { children: mergeParts(children, record.children) }),
        live: true,
      };
    } catch {
      return record;
    }
  }

  /** Temporal buffers one query per workflow, so concurrent callers share an answer. */
  #query(workflowId: string): Promise<StateMemo> {
    let query = this.#underWay.get(workflowId);
    if (!query) {
      query = this.temporal
        .call((client) => client.workflow.getHandle(workflowId).query(OPERATION_QUERY))
        .finally(() => this.#underWay.delete(workflowId));
      this.#underWay.set(workflowId, query);
    }
    return query;
  }
}
