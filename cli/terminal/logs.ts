/** Reads logs page by page, and follows a pipeline from step to step. */
import { OPERATION_LOG } from '../../operations/wire/log-page.js';
import {
  chooseStep,
  isStepEnded,
  defaultStep,
  stepReference,
  stepsOf,
  type ChosenStep,
} from '../../operations/steps.js';
import { CommandFailure } from '../failure.js';
import { EXIT } from '../client/exit-codes.js';
import type { LogWriter } from './log-writer.js';
import { readLog, readLogAfter, readSteps, ToolRefusal } from '../client/operation-tools.js';
import { pause, type ReconnectPolicy } from '../client/reconnect-policy.js';
import type { Session } from '../client/session.js';
import type { Child, LogAnswer, OperationSteps } from '../client/wire.js';

/** First and last poll interval while nothing is new. */
const FIRST_POLL_MS = 1_000;
const LAST_POLL_MS = 5_000;

export interface LogRequest {
  token: string;
  step: string | undefined;
  /** Number of lines from the end. */
  tail: number | undefined;
  from: number | undefined;
  to: number | undefined;
  pattern: string | undefined;
}

/** A command's connection to its server, with retries until the signal is aborted. */
export interface ServerLink {
  session: Session;
  reconnects: ReconnectPolicy;
  signal: AbortSignal;
}

/** Prints a log to its current end. With `isFollowed`, continues until its step, or the operation, has ended. */
export async function showLog(
  { session, reconnects, signal }: ServerLink,
  request: LogRequest,
  writer: LogWriter,
  isFollowed: boolean,
): Promise<void> {
  const ask = (query: Record<string, unknown>) =>
    reconnects.retryUntilAnswered(() => readLog(session, { token: request.token, ...query }, { signal }));
  const askAfter = (page: LogAnswer) =>
    request.pattern === undefined
      ? reconnects.retryUntilAnswered(() => readLogAfter(session, request.token, page, { signal }))
      : ask({ cursor: page.cursor });
  const query = await firstQuery(ask, request);
  let page = query && (await ask(query));
  let pollMs = FIRST_POLL_MS;
  while (page !== undefined) {
    await writer.page(page);
    if (page.cursor === undefined) return;
    if (page.is_at_end) {
      if (!isFollowed) return;
      pollMs = page.lines.length > 0 ? FIRST_POLL_MS : Math.min(pollMs * 2, LAST_POLL_MS);
      await pause(pollMs, signal);
    }
    page = await askAfter(page);
  }
}

/** Converts a tail to line numbers, because one page from the end has a limited number of lines. */
async function firstQuery(
  ask: (query: Record<string, unknown>) => Promise<LogAnswer | undefined>,
  { step, tail, from, to, pattern }: LogRequest,
): Promise<Record<string, unknown> | undefined> {
  const query = { step, from_line: from, to_line: to, pattern };
  if (tail === undefined) return query;
  const end = await ask({ step, tail: 1 });
  if (end === undefined) return undefined;
  const last = end.lines.at(-1)?.number ?? 0;
  return { ...query, step: end.step, from_line: Math.max(1, last - tail + 1) };
}

/**
 * Follows an operation until it, or the requested step, has ended.
 *
 * @returns the operation's last state; undefined when the signal was aborted first
 * @throws CommandFailure for an unknown step
 */
export async function followLogs(
  link: ServerLink,
  request: LogRequest,
  writer: LogWriter,
): Promise<OperationSteps | undefined> {
  const { session, reconnects, signal } = link;
  if (await isOperationLog(link, request)) {
    await showLog(link, { ...request, step: OPERATION_LOG }, writer, true);
    return reconnects.retryUntilAnswered(() => readSteps(session, request.token, { signal }));
  }
  const chain = new StepSequence(request.step);
  let pollMs = FIRST_POLL_MS;
  while (!signal.aborted) {
    const operation = await reconnects.retryUntilAnswered(() =>
      readSteps(session, request.token, { signal }),
    );
    if (operation === undefined) return undefined;
    const next = chain.next(childrenOf(operation));
    if (next) {
      if (!chain.isOneStep) await writer.header(`${stepReference(next)} ${next.step.name}`);
      const first = chain.count === 1 ? request : { ...request, from: undefined, tail: undefined };
      await showLog(link, { ...first, step: stepReference(next) }, writer, true);
      pollMs = FIRST_POLL_MS;
      continue;
    }
    if (operation.closedAt !== undefined || chain.isDone) return operation;
    await pause(pollMs, signal);
    pollMs = Math.min(pollMs * 2, LAST_POLL_MS);
  }
  return undefined;
}

async function isOperationLog(
  { session, reconnects, signal }: ServerLink,
  { token, step }: LogRequest,
): Promise<boolean> {
  if (step !== undefined) return step === OPERATION_LOG;
  try {
    const page = await reconnects.retryUntilAnswered(() => readLog(session, { token, tail: 1 }, { signal }));
    return page?.step === OPERATION_LOG;
  } catch (error) {
    // A pipeline without started steps, or without a worker that could list its steps.
    if (error instanceof ToolRefusal) return false;
    throw error;
  }
}

/** The parts of an operation; empty while no worker can list them. */
function childrenOf({ token, children, isLive, status }: OperationSteps): Child[] {
  if (children) return children;
  if (status === 'expired') throw new CommandFailure(`${token}: the operation has expired`, EXIT.notFound);
  if (isLive)
    throw new CommandFailure(
      `${token}: no steps are known; only pipelines have steps with logs`,
      EXIT.notFound,
    );
  return [];
}

/** Order in which steps are printed: each started step once, by start time. */
class StepSequence {
  readonly #shown = new Set<string>();
  #since = '';
  isOneStep = false;
  isDone = false;

  constructor(private readonly wanted: string | undefined) {}

  get count(): number {
    return this.#shown.size;
  }

  next(children: Child[]): ChosenStep | undefined {
    if (children.length === 0) return undefined;
    const chosen = this.#choose(children);
    if (!chosen) return undefined;
    this.#shown.add(stepReference(chosen));
    if (this.#since === '') this.#since = chosen.step.startedAt ?? '';
    this.isDone = this.isOneStep;
    return chosen;
  }

  #choose(children: Child[]): ChosenStep | undefined {
    const { wanted } = this;
    const steps = wanted === undefined ? stepsOf(children) : stepsOf(children, wanted);
    this.isOneStep = wanted !== undefined && steps.length === 0;
    if (this.isOneStep) {
      const chosen = chooseStep(children, wanted);
      const { startedAt, status } = chosen.step;
      // A step that never ran has no log.
      this.isDone = startedAt === undefined && isStepEnded({ status });
      return startedAt === undefined || this.#shown.size > 0 ? undefined : chosen;
    }
    const own = steps.filter(({ step }) => step.startedAt !== undefined && step.logsOf === undefined);
    const isOver = steps.every(({ step }) => isStepEnded(step));
    if (this.#shown.size === 0) return defaultStep(own) ?? (isOver ? defaultStep(steps) : undefined);
    return own
      .filter((one) => one.step.startedAt! >= this.#since && !this.#shown.has(stepReference(one)))
      .sort((one, other) => (one.step.startedAt! < other.step.startedAt! ? -1 : 1))[0];
  }
}
