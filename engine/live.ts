/** Data that only an operation's workflow holds: large partial results, children. Reading it needs a worker. */
import { isTerminal, type ChildRecord, type OperationRecord } from '../operations/record.js';
import { OPERATION_QUERY, type StateMemo } from '../operations/wire.js';
import { mergeParts } from './parts.js';
import type { TemporalClient } from './temporal.js';

export class LiveQueries {
  readonly #pending = new Map<string, Promise<StateMemo>>();

  constructor(private readonly temporal: TemporalClient) {}

  /** Completes a record with the workflow's data; returns it unchanged, with `live: false`, if no worker answers. */
  async complete(record: OperationRecord, workflowId: string): Promise<OperationRecord> {
    // A terminated operation could not write its children into its memo.
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

  /** The children of a workflow that is a part; undefined if no worker answers. */
  async children(workflowId: string): Promise<ChildRecord[] | undefined> {
    return this.#query(workflowId).then(
      ({ children = [] }) => children,
      () => undefined,
    );
  }

  /** Concurrent callers share an answer, since Temporal buffers one query per workflow. */
  #query(workflowId: string): Promise<StateMemo> {
    let query = this.#pending.get(workflowId);
    if (!query) {
      query = this.temporal
        .call((client) => client.workflow.getHandle(workflowId).query(OPERATION_QUERY))
        .finally(() => this.#pending.delete(workflowId));
      this.#pending.set(workflowId, query);
    }
    return query;
  }
}
