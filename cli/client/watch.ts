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
  session: Session,
  taskId: string,
  options: ReconnectOptions,
): AsyncGenerator<Task> {
  const { signal } = options;
  const reconnects = new ReconnectPolicy(options);
  let last = '';
  while (!signal.aborted) {
    try {
      for await (const task of observe(session, taskId, signal)) {
        reconnects.reached();
        const json = JSON.stringify(task);
        if (json !== last) yield task;
        last = json;
        if (isClosed(task)) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      reconnects.failed(error);
    }
    await reconnects.pause();
  }
}

/** States over one subscription; ends when it does. Servers without subscriptions are polled. */
async function* observe(session: Session, taskId: string, signal: AbortSignal): AsyncGenerator<Task> {
  const queue = new AsyncQueue();
  const done = new AbortController();
  const ended = session
    .request(
      'subscriptions/listen',
      { notifications: { taskIds: [taskId] } },
      {
        signal: AbortSignal.any([signal, done.signal]),
        limitMs: Infinity,
        onNotification: ({ method, params }) => {
          if (method === 'notifications/subscriptions/acknowledged') queue.put('ready');
          else if (method === 'notifications/tasks' && params['taskId'] === taskId)
            queue.put(fromNotification(params as unknown as ProtocolTask));
        },
      },
    )
    .then(
      () => queue.put('end'),
      (error: Error) => queue.put(error),
    );
  try {
    let last: Task | undefined;
    for (;;) {
      const event = await queue.take(SILENCE_MS);
      if (event === 'end') return;
      if (event instanceof Error) {
        if (!(event instanceof RpcError && event.code === METHOD_NOT_FOUND)) throw event;
        yield* poll(session, taskId, signal);
        return;
      }
      if (event !== undefined && event !== 'ready') {
        yield (last = event);
        continue;
      }
      const task = await session.task(taskId, signal);
      // What came in the meantime is newer than what was asked for before.
      if (!queue.isEmpty) continue;
      yield task;
      // Something has changed and the subscription has not told: another one is needed.
      if (event === undefined && task.lastUpdatedAt !== last?.lastUpdatedAt) return;
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
function fromNotification({ _meta, ...task }: ProtocolTask): Task {
  const { [SUBSCRIPTION_META]: _subscription, ...meta } = _meta ?? {};
  return asTask({ ...task, ...(Object.keys(meta).length ? { _meta: meta } : {}) });
}

type TaskEvent = Task | Error | 'ready' | 'end';

/** What a callback puts in and a loop takes out. */
class AsyncQueue {
  readonly #events: TaskEvent[] = [];
  #wake: (() => void) | undefined;

  get isEmpty(): boolean {
    return this.#events.length === 0;
  }

  put(event: TaskEvent): void {
    this.#events.push(event);
    this.#wake?.();
  }

  /** @returns undefined when nothing comes in time */
  async take(limitMs: number): Promise<TaskEvent | undefined> {
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
    return this.#events.shift();
  }
}
