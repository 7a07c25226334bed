/** Operations that a waiting agent wants to be woken by. */
import type { Engine } from '../../engine/index.js';
import { LonghaulError } from '../../operations/errors.js';
import type { OperationRecord } from '../../operations/record.js';
import type { PlainStatus } from '../../operations/status-names.js';
import type { Caller } from '../../mcp-server/shared/caller.js';
import { isOver, plainStatus } from '../../mcp-server/plain/envelope/status.js';
import { waitFor } from '../../mcp-server/plain/wait.js';

/** For how long they are looked at, in seconds: longer than any wait. */
const LOOK_SECONDS = 24 * 3600;

/** @throws LonghaulError `not_found`, `unavailable` */
export function readOperations(
  engine: Engine,
  { principal }: Caller,
  tokens: string[] = [],
): Promise<OperationRecord[]> {
  return Promise.all([...new Set(tokens)].map((token) => readOperation(engine, principal, token)));
}

async function readOperation(engine: Engine, principal: string, token: string): Promise<OperationRecord> {
  try {
    return await engine.read(principal, token);
  } catch (error) {
    if (!(error instanceof LonghaulError && error.kind === 'not_found')) throw error;
    throw new LonghaulError('not_found', `also: there is no operation ${JSON.stringify(token)}`);
  }
}

/** Those that have ended, or wait for an answer, by token, in the words of operation_get. */
export type Ended = Record<string, PlainStatus>;

/** Looks at operations until one has ended or asks something. */
export class OperationsWatch {
  readonly ended: Ended = {};
  readonly #woken = new AbortController();
  readonly #over = new AbortController();

  constructor(engine: Engine, { principal, closing }: Caller, records: OperationRecord[]) {
    for (const record of records) this.#note(record);
    if (this.hasEnded) return;
    const { signal } = this.#over;
    for (const record of records)
      void waitFor(engine, record, LOOK_SECONDS, { principal, closing, signal }).then(
        ({ record: seen }) => this.#note(seen),
        // One that can't be looked at any more wakes nobody: the agent's next call says why.
        () => undefined,
      );
  }

  /** Fires when one has ended. */
  get signal(): AbortSignal {
    return this.#woken.signal;
  }

  get hasEnded(): boolean {
    return this.#woken.signal.aborted;
  }

  stop(): void {
    this.#over.abort();
  }

  #note(record: OperationRecord): void {
    const status = plainStatus(record);
    if (!isOver(status) && status !== 'input_required') return;
    this.ended[record.token] = status;
    this.#woken.abort();
  }
}
