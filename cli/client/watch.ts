/**
 * Watching one task: a subscription, else polling, over and over until the task is closed. A server that goes away
 * is waited for; nothing about that touches the work.
 */
import { RpcError } from './connection.js';
import { ReconnectPolicy, pause, type ReconnectOptions } from './reconnect-policy.js';
import type { Session } from './session.js';
import { asTask } from './task.js';
import { isClosed, type ProtocolTask, type Task } from './wire.js';

/** How long a subscription may be silent before the task is read, in milliseconds: a dead connection says nothing. */
const SILENCE_MS = 30_000;
const POLL_MS = 5_000;

const METHOD_NOT_FOUND = -32601;
const SUBSCRIPTION_META = 'io.modelcontextprotocol/subscriptionId';

/**
 * Every state of a task that differs from the one before; the last is a closed one, unless the signal fires first.
 *
 * @throws Unreachable, RpcError
 */
export async function* watchTask(
  session: TaskSource,
  taskId: string,
  options: ReconnectOptions,
): AsyncGenerator<Task> {
  const { signal } = options;
  const patience = new ReconnectPolicy(options);
  let last = '';
  while (!signal.aborted) {
    try {
      for await (const task of observe(session, taskId, signal)) {
        patience.reached();
        const json = JSON.stringify(task);
        if (json !== last) yield task;
        last = json;
        if (isClosed(task)) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      patience.failed(error);
    }
    await patience.pause();
  }
}

/** States over one subscription; ends when it does. Servers without subscriptions are polled. */
async function* observe(session: TaskSource, taskId: string, signal: AbortSignal): AsyncGenerator<Task> {
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
            mailbox.put(fromNotification(params as unknown as ProtocolTask));
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

async function* poll(session: TaskSource, taskId: string, signal: AbortSignal): AsyncGenerator<Task> {
  while (!signal.aborted) {
    const task = await session.task(taskId, signal);
    yield task;
    if (isClosed(task)) return;
    await pause(task.pollIntervalMs ?? POLL_MS, signal);
  }
}

/** The task that a notification carries: the same as tasks/get gives, without the subscription's mark. */
function fromNotification({ _meta, ...task }: ProtocolTask): Task {
  const { [SUBSCRIPTION_META]: _subscription, ...meta } = _meta ?? {};
  return asTask({ ...task, ...(Object.keys(meta).length ? { _meta: meta } : {}) });
}

/** A session, as far as watching needs it. */
export type TaskSource = Pick<Session, 'request' | 'task'>;

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
