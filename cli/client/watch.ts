/**
 * Watching one task: a subscription, else polling, over and over until the task is closed. A server that goes away
 * is waited for; nothing about that touches the work.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { RpcError, Unreachable } from './connection.js';
import { asTask, type Session } from './session.js';
import { isClosed, type Task } from './wire.js';

/** How long a subscription may be silent before the task is read, in milliseconds: a dead connection says nothing. */
const SILENCE_MS = 30_000;
const POLL_MS = 5_000;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 5_000;
/** How long a server may be gone before nobody waits for it any more, in milliseconds: 15 minutes. */
const GONE_LIMIT_MS = 15 * 60_000;

const METHOD_NOT_FOUND = -32601;
const SUBSCRIPTION_META = 'io.modelcontextprotocol/subscriptionId';

export interface WatchOptions {
  signal: AbortSignal;
  /** Is the task known to exist, so that even a first attempt is worth repeating? */
  isKnown: boolean;
  /** Told when the server is gone, with the reason, and without one when it is back. */
  onTrouble: (reason?: string) => void;
}

/**
 * Every state of a task that differs from the one before; the last is a closed one, unless the signal fires first.
 *
 * @throws Unreachable, RpcError
 */
export async function* watchTask(
  session: Session,
  taskId: string,
  { signal, isKnown, onTrouble }: WatchOptions,
): AsyncGenerator<Task> {
  let last = '';
  let isReached = isKnown;
  let isTroubled = false;
  let contactMs = Date.now();
  let retryMs = FIRST_RETRY_MS;
  while (!signal.aborted) {
    try {
      for await (const task of observe(session, taskId, signal)) {
        if (isTroubled) onTrouble();
        isReached = true;
        isTroubled = false;
        contactMs = Date.now();
        retryMs = FIRST_RETRY_MS;
        const json = JSON.stringify(task);
        if (json !== last) yield task;
        last = json;
        if (isClosed(task)) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isReached || !isPassing(error) || Date.now() - contactMs > GONE_LIMIT_MS) throw error;
      if (!isTroubled) onTrouble((error as Error).message);
      isTroubled = true;
    }
    await pause(retryMs, signal);
    retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof Unreachable || (error instanceof RpcError && error.isRetryable);
}

/** States over one subscription; ends when it does. Servers without subscriptions are polled. */
async function* observe(session: Session, taskId: string, signal: AbortSignal): AsyncGenerator<Task> {
  const mailbox = new Mailbox();
  const done = new AbortController();
  const ended = session
    .request(
      'subscriptions/listen',
      { notifications: { taskIds: [taskId] } },
      {
        signal: AbortSignal.any([signal, done.signal]),
        limitMs: Infinity,
        onNotification: ({ method, params }) => {
          if (method === 'notifications/subscriptions/acknowledged') mailbox.put('ready');
          else if (method === 'notifications/tasks' && params['taskId'] === taskId)
            mailbox.put(fromNotification(params as unknown as Task));
        },
      },
    )
    .then(
      () => mailbox.put('end'),
      (error: Error) => mailbox.put(error),
    );
  try {
    let last: Task | undefined;
    for (;;) {
      const mail = await mailbox.take(SILENCE_MS);
      if (mail === 'end') return;
      if (mail instanceof Error) {
        if (!(mail instanceof RpcError && mail.code === METHOD_NOT_FOUND)) throw mail;
        yield* poll(session, taskId, signal);
        return;
      }
      if (mail !== undefined && mail !== 'ready') {
        yield (last = mail);
        continue;
      }
      const task = await session.task(taskId, signal);
      // What came in the meantime is newer than what was asked for before.
      if (!mailbox.isEmpty) continue;
      yield task;
      // Something has changed and the subscription has not told: another one is needed.
      if (mail === undefined && task.lastUpdatedAt !== last?.lastUpdatedAt) return;
      last = task;
    }
  } finally {
    done.abort();
    await ended;
  }
}

async function* poll(session: Session, taskId: string, signal: AbortSignal): AsyncGenerator<Task> {
  while (!signal.aborted) {
    const task = await session.task(taskId, signal);
    yield task;
    if (isClosed(task)) return;
    await pause(task.pollIntervalMs ?? POLL_MS, signal);
  }
}

/** The task that a notification carries: the same as tasks/get gives, without the subscription's mark. */
function fromNotification({ _meta, ...task }: Task): Task {
  const { [SUBSCRIPTION_META]: _subscription, ...meta } = _meta ?? {};
  return asTask({ ...task, ...(Object.keys(meta).length ? { _meta: meta } : {}) });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => undefined);
}

type Mail = Task | Error | 'ready' | 'end';

/** What a callback puts in and a loop takes out. */
class Mailbox {
  readonly #mails: Mail[] = [];
  #wake: (() => void) | undefined;

  get isEmpty(): boolean {
    return this.#mails.length === 0;
  }

  put(mail: Mail): void {
    this.#mails.push(mail);
    this.#wake?.();
  }

  /** @returns undefined when nothing comes in time */
  async take(limitMs: number): Promise<Mail | undefined> {
    if (this.isEmpty) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, limitMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
    return this.#mails.shift();
  }
}
