/**
 * Program that replays histories, forked by `worker/replay/replayer.ts`: code may block its thread forever, and test runners
 * patch modules. It answers one request at a time.
 */
import { on } from 'node:events';
import { readFileSync } from 'node:fs';
import { Worker as Thread } from 'node:worker_threads';
import { Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import proto from '@temporalio/proto';
import { dataConverterOf } from '../../platform/temporal/data-converter.js';
import { createLogger } from '../../platform/observe/log.js';
import { openStorage, type StorageChoice } from '../../platform/storage/index.js';
import { exactStacks } from '../../platform/temporal/internal/exact-stacks.js';
import {
  tracedBundle,
  TRACE_SINK,
  type TracedActivation,
} from '../../platform/temporal/internal/replay-trace.js';
import { installRuntime } from '../../platform/temporal/runtime.js';
import { eventOfTask, explain, type Difference, type ReplayProblem } from './explain.js';
import { callersIn, functionIn, type Frame } from './frames.js';

const { History } = proto.temporal.api.history.v1;
type History = proto.temporal.api.history.v1.IHistory;

/** Sent once, before the first history. */
export interface ReplaySettings {
  codePath: string;
  storage: StorageChoice;
  /** Loopback port for a debugger; the process waits for it and stops before each history. Default: none. */
  inspectPort?: number;
}

export interface ReplayRequest {
  /** Encoded `temporal.api.history.v1.History`. */
  history: Uint8Array;
  workflowId: string;
}

export interface ReplayAnswer {
  /** Absent if the history replays. */
  failure?: ReplayProblem;
}

interface Trace {
  /** Activations of the last workflow task. */
  activations: TracedActivation[];
  /** The core's message; undefined if the history replays. */
  description: string | undefined;
}

async function serve({ codePath, storage, inspectPort }: ReplaySettings): Promise<void> {
  installRuntime(createLogger('replay', 'silent'));
  exactStacks();
  // debugMode runs in this thread: otherwise the SDK's limit on an activation crashes the process without an answer.
  const common = { dataConverter: dataConverterOf(openStorage(storage)), debugMode: true };
  const requests = on(process, 'message') as AsyncIterableIterator<[ReplayRequest]>;
  const options: ReplayWorkerOptions = { ...common, workflowBundle: { codePath } };
  let history: History = {};
  const histories = async function* () {
    for await (const [request] of requests) {
      history = History.decode(request.history);
      if (inspectPort !== undefined) {
        // Continue: the workflow's code is loaded, so breakpoints in it hold.
        // eslint-disable-next-line no-debugger -- the stop that --inspect promises
        debugger;
      }
      yield { history: history as never, workflowId: request.workflowId };
    }
  };
  for await (const { error, workflowId } of Worker.runReplayHistories(options, histories())) {
    const answer: ReplayAnswer = error ? { failure: await failureOf(error, workflowId) } : {};
    await new Promise((sent) => process.send!(answer, undefined, undefined, sent));
  }

  async function failureOf(error: Error, workflowId: string): Promise<ReplayProblem> {
    const isNondeterministic = error.name === 'DeterminismViolationError';
    const message = messageIn(error.message);
    const traced = await trace(history, workflowId).catch(() => undefined);
    // The place is known only if the tracer failed the same way.
    if (traced?.description === undefined || messageIn(traced.description) !== message)
      return { message, isNondeterministic };
    const difference = isNondeterministic
      ? explain(history.events ?? [], traced.activations, message)
      : thrown(history, traced);
    if (difference.callers.length === 0) difference.callers = workflowFunction(history);
    return { message, isNondeterministic, difference };
  }

  async function trace(traced: History, workflowId: string): Promise<Trace> {
    const found: Trace = { activations: [], description: undefined };
    const code = tracedBundle(readFileSync(codePath, 'utf8'));
    const activation = (_info: unknown, one: TracedActivation) => {
      const { historyLength } = one;
      found.activations = [
        ...found.activations.filter((before) => before.historyLength === historyLength),
        one,
      ];
    };
    const sinks = { [TRACE_SINK]: { activation: { fn: activation, callDuringReplay: true } } };
    const replay = Worker.runReplayHistory(
      { ...common, workflowBundle: { code }, sinks },
      traced,
      workflowId,
    );
    found.description = await replay.then(
      () => undefined,
      (error: Error) => error.message,
    );
    return found;
  }

  function thrown(failed: History, { activations, description = '' }: Trace): Difference {
    const event = eventOfTask(failed.events ?? [], activations);
    return { ...(event ? { event } : {}), callers: callersIn(quotedIn(description, 'stack_trace') ?? '') };
  }

  /** The workflow's function, used when no function of its file made the command, such as its end. */
  function workflowFunction({ events }: History): Frame[] {
    const type = events?.[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name;
    const frame = type ? functionIn(readFileSync(codePath, 'utf8'), type) : undefined;
    return frame ? [frame] : [];
  }
}

/** The failure's message within the core's debug description. */
function messageIn(description: string): string {
  return quotedIn(description, 'message') ?? description;
}

function quotedIn(description: string, field: string): string | undefined {
  const [, quoted] = new RegExp(`${field}: ("(?:[^"\\\\]|\\\\.)*")`).exec(description) ?? [];
  try {
    return quoted === undefined ? undefined : (JSON.parse(quoted) as string);
  } catch {
    return undefined;
  }
}

/** Ends this process with its parent, even while a replay blocks this thread. */
function endWithParent(): void {
  const { ppid } = process;
  const check = `setInterval(() => process.ppid === ${ppid} || process.kill(process.pid, 'SIGKILL'), 1000)`;
  new Thread(check, { eval: true }).unref();
  process.on('disconnect', () => process.exit(0));
  // The parent may have ended while modules were loading.
  if (!process.connected) process.exit(0);
}

endWithParent();
await serve(JSON.parse(process.argv[2]!) as ReplaySettings).catch((error: unknown) => {
  const { message } = error as Error;
  const answer: ReplayAnswer = { failure: { message, isNondeterministic: false } };
  process.send!(answer, undefined, undefined, () => process.exit(1));
});
