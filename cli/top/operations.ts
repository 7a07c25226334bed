/**
 * The open operations of `longhaul top`. Lists once in 5 s, because Temporal limits lists: operations that ask and others in
 * turn. In between, it reads only the rows on the screen.
 */
import { isTerminal } from '../../operations/record.js';
import { LIST_INTERVAL_MS, openOperations, type ChangesFilter } from '../follow/operation-changes.js';
import { listOperations, readSteps } from '../client/operation-tools.js';
import type { Session } from '../client/session.js';
import type { ListedOperation, Task } from '../client/wire.js';

/** Interval for reading the hosts of a pipeline's jobs, which its worker has to answer. */
const HOSTS_INTERVAL_MS = 15_000;
const PAGE = 100;

export interface Row {
  operation: ListedOperation;
  /** Set once it has been on the screen. */
  task?: Task;
  /** Hosts of its open jobs. */
  hosts: string[];
  hostsReadMs: number;
}

export class Operations {
  readonly #rows = new Map<string, Row>();
  #listedMs = -Infinity;
  #turn = 0;

  constructor(
    private readonly session: Session,
    private readonly filter: ChangesFilter,
  ) {}

  /** Operations that ask first, then the latest. */
  get rows(): Row[] {
    return [...this.#rows.values()].sort(
      (one, other) =>
        Number(isAsking(other)) - Number(isAsking(one)) ||
        (one.operation.createdAt < other.operation.createdAt ? 1 : -1),
    );
  }

  /** @param visible tokens of the rows on the screen. @throws Unreachable, RpcError, ToolRefusal */
  async refresh(visible: readonly string[]): Promise<void> {
    if (performance.now() - this.#listedMs >= LIST_INTERVAL_MS) await this.#list();
    await Promise.all(
      visible.flatMap((token) => {
        const row = this.#rows.get(token);
        return row ? [this.#read(row)] : [];
      }),
    );
  }

  async #list(): Promise<void> {
    const isFirst = this.#listedMs === -Infinity;
    this.#listedMs = performance.now();
    if (isFirst) {
      for (const operation of await openOperations(this.session, this.filter)) this.#add(operation);
      return;
    }
    const status = (['input_required', 'working'] as const)[this.#turn++ % 2]!;
    const filter = { ...this.filter, status, limit: PAGE };
    for (const operation of (await listOperations(this.session, filter)).operations) this.#add(operation);
  }

  /** Lists lag, so a row keeps the state that was read. */
  #add(operation: ListedOperation): void {
    const row = this.#rows.get(operation.token);
    if (!row) this.#rows.set(operation.token, { operation, hosts: [], hostsReadMs: -Infinity });
    else row.operation = operation;
  }

  async #read(row: Row): Promise<void> {
    const { token } = row.operation;
    try {
      row.task = await this.session.task(token);
    } catch (error) {
      // Purged, or deleted.
      if ((error as Error).name !== 'RpcError') throw error;
      this.#rows.delete(token);
      return;
    }
    if (isTerminal(row.task.status)) this.#rows.delete(token);
    else if (performance.now() - row.hostsReadMs >= HOSTS_INTERVAL_MS) await this.#readHosts(row);
  }

  async #readHosts(row: Row): Promise<void> {
    row.hostsReadMs = performance.now();
    const { children = [] } = await readSteps(this.session, row.operation.token);
    const hosts = children.filter(({ status }) => !['completed', 'skipped'].includes(status));
    row.hosts = [...new Set(hosts.flatMap(({ host }) => (host === undefined ? [] : [host])))];
  }
}

export function isAsking({ operation, task }: Row): boolean {
  return (task?.status ?? operation.status) === 'input_required';
}

/** Whether no worker has taken it, or it waits for its turn in a queue. */
export function isQueued({ operation, task }: Row): boolean {
  return (task?.status ?? operation.status) === 'submitted';
}
