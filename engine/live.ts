/** Large partial results and children, which a describe lacks: queried while a workflow is open, later in its memo or storage. */
import { isKind } from '../operations/errors.js';
import { isTerminal, type ChildRecord, type OperationRecord } from '../operations/record.js';
import { OPERATION_QUERY, type StateMemo } from '../operations/wire.js';
import { readClosedState } from '../platform/closed-state.js';
import { mergeParts } from './parts.js';
import type { TemporalClient } from './temporal.js';

export class LiveQueries {
  readonly #pending = new Map<string, Promise<StateMemo>>();

  constructor(private readonly temporal: TemporalClient) {}

  /** Completes a record with the workflow's data. Returns it unchanged, with `live: false`, if no worker answers or the data is lost. */
  async complete(record: OperationRecord, workflowId: string): Promise<OperationRecord> {
    // A terminated operation couldn't write its children into its memo.
    const isPartly = record.areChildrenLarge || record.isPartialLarge || record.error?.kind === 'terminated';
    const isClosed = isTerminal(record.status);
    if (record.status === 'expired' || (isClosed && !isPartly)) return record;
    try {
      const { partial, children } = await (isClosed ? this.#read(workflowId) : this.#query(workflowId));
      const { areChildrenLarge: _children, isPartialLarge: _partial, ...rest } = record;
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

  /** A part's children; undefined if it is open without a worker. @throws LonghaulError `internal` if it's closed, and storage lost them */
  async children(workflowId: string): Promise<ChildRecord[] | undefined> {
    return this.#read(workflowId).then(
      ({ children = [] }) => children,
      (error: unknown) => {
        if (isKind(error, 'internal')) throw error;
        return undefined;
      },
    );
  }

  /** Reads what a closed workflow has left; otherwise queries it. */
  async #read(workflowId: string): Promise<StateMemo> {
    const description = await this.temporal.describe(workflowId);
    const closed = await readClosedState(description, this.temporal.storage);
    return closed?.children ? closed : this.#query(workflowId);
  }

  /** Concurrent callers share a query: Temporal buffers one per workflow. */
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
