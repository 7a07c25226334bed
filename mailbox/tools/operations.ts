/** Operations whose end also ends an agent's wait. */
import type { Guard } from '../../mcp-server/guard.js';
import { isKind, LonghaulError } from '../../operations/errors.js';
import type { OperationRecord } from '../../operations/record.js';
import type { PlainStatus } from '../../operations/status-names.js';
import type { CallContext } from '../../mcp-server/call/call-context.js';
import { isOver, plainStatus } from '../../mcp-server/plain/envelope/status.js';
import { waitFor } from '../../mcp-server/plain/wait.js';

/** Maximum time of a watch, in seconds: longer than any wait. */
const WATCH_SECONDS = 24 * 3600;

/** @throws LonghaulError `not_found`, `unavailable` */
export function readOperations(engine: Guard, tokens: string[] = []): Promise<OperationRecord[]> {
  return Promise.all([...new Set(tokens)].map((token) => readOperation(engine, token)));
}

async function readOperation(engine: Guard, token: string): Promise<OperationRecord> {
  try {
    return await engine.read(token);
  } catch (error) {
    if (!isKind(error, 'not_found')) throw error;
    throw new LonghaulError('not_found', `also: there is no operation ${JSON.stringify(token)}`);
  }
}

/** Statuses of ended operations, and of those that require input, by token. Values as in operation_get. */
export type EndedOperations = Record<string, PlainStatus>;

export class OperationsWatch {
  readonly ended: EndedOperations = {};
  readonly #hasEnded = new AbortController();
  readonly #stopped = new AbortController();

  constructor(engine: Guard, { shutdown }: CallContext, records: OperationRecord[]) {
    for (const record of records) this.#record(record);
    if (this.hasEnded) return;
    const { signal } = this.#stopped;
    for (const record of records)
      void waitFor(engine, record, WATCH_SECONDS, { shutdown, signal }).then(
        ({ record: seen }) => this.#record(seen),
        // An unreadable operation doesn't end the wait. The agent's next call reports the error.
        () => undefined,
      );
  }

  get signal(): AbortSignal {
    return this.#hasEnded.signal;
  }

  get hasEnded(): boolean {
    return this.#hasEnded.signal.aborted;
  }

  stop(): void {
    this.#stopped.abort();
  }

  #record(record: OperationRecord): void {
    const status = plainStatus(record);
    if (!isOver(status) && status !== 'input_required') return;
    this.ended[record.token] = status;
    this.#hasEnded.abort();
  }
}
