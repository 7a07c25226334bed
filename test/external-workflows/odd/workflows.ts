/** Workflows of somebody who doesn't know Longhaul, each odd in a way that a tool over it has to bear. */
import {
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  executeChild,
  isCancellation,
  makeContinueAsNewFunc,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type * as activities from './activities.js';

const { countRows, fail } = proxyActivities<typeof activities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '100 milliseconds', maximumAttempts: 3 },
});

/** Returns a value that isn't an object. */
export async function Result(kind: string): Promise<unknown> {
  switch (kind) {
    case 'text':
      return 'done';
    case 'list':
      return [1, 2];
    case 'texts':
      return ['one', 'two'];
    case 'null':
      return null;
    case 'bytes':
      return new TextEncoder().encode('raw');
    default:
      return undefined;
  }
}

/** Gives its arguments back. */
export async function Echo(...args: unknown[]): Promise<unknown> {
  return { args };
}

/** Gives its arguments back, by a child workflow. */
export async function Parent(): Promise<unknown> {
  return executeChild(Echo, { args: ['from', 'a', 'parent'] });
}

export async function Fails(message: string): Promise<void> {
  await fail(message);
}

/** An activity with heartbeats, and no query. */
export async function Heartbeats(rows: number): Promise<{ rows: number }> {
  return { rows: await countRows(rows) };
}

const tick = defineSignal('tick');

/** Progress that a query gives, and that falls once. */
export async function Ticks(goal: number): Promise<{ ticks: number }> {
  let ticks = 0;
  setHandler(tick, () => void (ticks += 1));
  setHandler(defineQuery<unknown>('progress'), () => {
    console.log(`asked ${workflowInfo().workflowId}`);
    return { at: { done: ticks === 3 ? 1 : ticks, of: goal }, step: ticks < 2 ? 'first' : 'second' };
  });
  setHandler(defineQuery<unknown>('throws'), () => {
    throw new Error('not today');
  });
  await condition(() => ticks >= goal);
  return { ticks };
}

const decide = defineUpdate<string, [boolean, string | undefined]>('decide');

/** Asks the same question several times. */
export async function Asks(times: number): Promise<{ answers: string[] }> {
  const answers: string[] = [];
  let isOpen = false;
  setHandler(defineQuery<unknown>('question'), () => (isOpen ? { prompt: 'Once more?' } : null));
  setHandler(
    decide,
    (approved, comment) => {
      isOpen = false;
      answers.push(`${approved ? 'yes' : 'no'}${comment === undefined ? '' : ` (${comment})`}`);
      return 'thanks';
    },
    {
      validator: (_approved, comment) => {
        if (!isOpen) throw new Error('nothing is asked');
        if (comment === 'rude') throw new Error('be polite');
      },
    },
  );
  while (answers.length < times) {
    isOpen = true;
    const count = answers.length;
    await condition(() => answers.length > count);
  }
  return { answers };
}

const reply = defineSignal<[{ id: string; verdict: string }]>('reply');

/** Several questions at once, answered by a signal. */
export async function Reviews(names: string[]): Promise<Record<string, string>> {
  const verdicts: Record<string, string> = {};
  setHandler(reply, ({ id, verdict }) => void (verdicts[id] = verdict));
  setHandler(defineQuery<unknown>('open'), () =>
    names.filter((name) => !(name in verdicts)).map((name) => ({ id: name, text: `Review ${name}?` })),
  );
  await condition(() => Object.keys(verdicts).length === names.length);
  return verdicts;
}

/** Completes although it was cancelled. */
export async function Stubborn(): Promise<{ saved: boolean }> {
  try {
    await sleep('10 minutes');
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(() => sleep(1_000));
  }
  return { saved: true };
}

const stop = defineSignal<[string]>('stop');

/** Knows a signal instead of Temporal's cancel request, and counts it. */
export async function Stops(): Promise<{ stopped: string[] }> {
  const reasons: string[] = [];
  setHandler(stop, (reason) => void reasons.push(reason));
  await condition(() => reasons.length > 0);
  await sleep(2_000);
  return { stopped: reasons };
}

/** Continues as new at each signal, a number of times. */
export async function Continues(left: number): Promise<{ left: number }> {
  let isTicked = false;
  setHandler(tick, () => void (isTicked = true));
  setHandler(defineQuery<unknown>('progress'), () => ({
    at: { done: 10 - left, of: 10 },
    step: `left ${left}`,
  }));
  if (left === 0) return { left };
  await condition(() => isTicked);
  return continueAsNew<typeof Continues>(left - 1);
}

/** Continues as new on another task queue. */
export async function Moves(queue: string): Promise<void> {
  if (workflowInfo().taskQueue !== queue)
    await makeContinueAsNewFunc<typeof Moves>({ taskQueue: queue })(queue);
}
