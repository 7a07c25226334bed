/** Watches one task by subscription, else by polling, until it is closed. Reconnects to an unreachable server. */
import { RpcError } from '../client/connection.js';
import { ReconnectPolicy, pause, type ReconnectOptions } from '../client/reconnect-policy.js';
import type { Session } from '../client/session.js';
import { asTask, isClosed, type ProtocolTask, type Task } from '../client/wire.js';

/** Reads the task after this silence of a subscription, to detect dead connections. */
const SILENCE_MS = 30_000;
const POLL_MS = 5_000;

const METHOD_NOT_FOUND = -32601;
const SUBSCRIPTION_META = 'io.modelcontextprotocol/subscriptionId';

/** Yields each change of the task until it is closed, or the signal aborts. @throws Unreachable, RpcError */
export async function* watchTask(
  session: TaskSource,
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

/** States from one subscription, until it ends. Polls servers without subscriptions. */
async function* observe(session: TaskSource, taskId: string, signal: AbortSignal): AsyncGenerator<Task> {
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
      // Queued events are newer than this read.
      if (!queue.isEmpty) continue;
      yield task;
      // A change without a notification: the subscription is dead, so open a new one.
      if (event === undefined && task.lastUpdatedAt !== last?.lastUpdatedAt) return;
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

/** The task of a notification, as tasks/get returns it, without the subscription ID. */
function fromNotification({ _meta, ...task }: ProtocolTask): Task {
  const { [SUBSCRIPTION_META]: _subscription, ...meta } = _meta ?? {};
  return asTask({ ...task, ...(Object.keys(meta).length ? { _meta: meta } : {}) });
}

export type TaskSource = Pick<Session, 'request' | 'task'>;

type TaskEvent = Task | Error | 'ready' | 'end';

/** Queue from callbacks to an async loop. */
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

  /** @returns undefined after the time limit */
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
