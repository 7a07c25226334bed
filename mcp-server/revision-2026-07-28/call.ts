/** tools/call: selects the protocol of a call, asks questions before it starts, and ends waiting calls with questions. */
import {
  inputRequired,
  type InputRequiredResult,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Guard } from '../guard.js';
import { LonghaulError } from '../../operations/errors.js';
import { PERSON_META_KEY } from '../../operations/wire/meta-keys.js';
import type { Tool } from '../../operations/tool/index.js';
import type { CallContext } from '../call/call-context.js';
import type { Shutdown } from '../shutdown/index.js';
import { callPlainTool, optionsOf, resumeWait, type PlainOutcome } from '../plain/handlers.js';
import { parseOperationField } from '../sep-1391/schemas.js';
import { startOperation } from '../sep-1391/handlers.js';
import type { Cancellations } from '../sep-1391/cancellations.js';
import { startTask } from './tasks/handlers.js';
import { parseKeepAlive } from '../two-stage/schemas.js';
import { startJob } from '../two-stage/handlers.js';
import { clientNameOf } from './tasks/schemas.js';
import { withKeyOfMeta } from '../call/idempotency-key.js';
import { builtinTools } from '../plain/builtin-tools.js';
import { renderRefusal } from '../call/results.js';
import { selectProtocol, type CallProtocol } from '../call/select-protocol.js';
import type { Serving } from '../call/serving.js';
import { listedNames } from '../revisions/methods.js';
import { clientOf, viewerOf } from './list.js';
import {
  argumentRequests,
  givenArguments,
  missingArguments,
  operationRequests,
  takeAnswers,
  type TakenAnswers,
} from './questions.js';
import { RequestStates } from './request-state.js';

type Arguments = Record<string, unknown>;

export interface CallOptions {
  /** SEP-1391. */
  operation?: unknown;
  /** Two-stage returns. */
  keep_alive_seconds?: unknown;
}

const NOTHING_TAKEN: TakenAnswers = { answered: new Set(), problems: new Map() };

/** A client's connection that outlives a request (stdio), so request IDs are unique on it. */
export interface Connection {
  /** Unique among the process's connections. */
  session: string;
  cancellations: Cancellations;
}

export class Calls {
  readonly #states: RequestStates;

  constructor(
    private readonly engine: Guard,
    private readonly transport: Serving['transport'],
    secret: Buffer,
    private readonly shutdown: Shutdown,
    private readonly connection?: Connection,
  ) {
    this.#states = new RequestStates(engine.principal, secret);
  }

  /**
   * Calls a tool by the protocol selected for the call. Built-in and short tools answer directly in every protocol.
   *
   * @param options unvalidated
   * @throws LonghaulError `unknown_tool`
   * @throws ProtocolError as {@link selectProtocol} and {@link withKeyOfMeta}; -32602 for an invalid requestState, or if the user
   *   declined a question before the start; errors of the protocol
   */
  async call(name: string, given: Arguments, options: CallOptions, context: ServerContext): Promise<Result> {
    const own = builtinTools(this.engine).get(name);
    const args = withKeyOfMeta(given, context.mcpReq._meta, own);
    const raw = context.mcpReq.requestState<unknown>();
    const state = raw === undefined ? undefined : this.#states.read(name, args, raw);
    const waiting = state?.at === 'waiting' ? state : undefined;
    try {
      // The retry of a call that ended with questions hands over the answers, and waits for the same operation.
      const taken = waiting
        ? await takeAnswers(this.engine, waiting.token, waiting.keys, context.mcpReq.inputResponses)
        : NOTHING_TAKEN;
      const viewer = viewerOf(context, this.transport);
      const tool = own ? undefined : this.engine.tool(name, () => listedNames(this.engine, viewer));
      const callContext = this.#callerOf(context, taken);
      if (tool && waiting) {
        const { timeoutSeconds } = optionsOf(tool, args).options;
        const outcome = await resumeWait(this.engine, tool, waiting.token, timeoutSeconds, callContext);
        return this.#resultOf(outcome, name, args, taken);
      }
      const protocol = selectProtocol(tool, { operation: options.operation }, viewer.client);
      if (own) return this.#resultOf(await own.call(this.engine, callContext, args), name, args, taken);
      const before = state?.at === 'asking' ? state.given : {};
      return await this.#callTool(tool!, protocol, args, options, before, context);
    } catch (error) {
      if (!(error instanceof LonghaulError) || error.kind === 'unknown_tool') throw error;
      return { ...renderRefusal(error) };
    }
  }

  async #callTool(
    tool: Tool,
    protocol: CallProtocol,
    args: Arguments,
    options: CallOptions,
    before: Arguments,
    context: ServerContext,
  ): Promise<Result> {
    const { elicitation } = clientOf(context);
    // Validated before the user is asked for anything.
    const field = protocol === 'operation' ? parseOperationField(options.operation) : {};
    const keepAliveSeconds =
      protocol === 'two-stage' ? parseKeepAlive(options.keep_alive_seconds) : undefined;
    const given = { ...before, ...givenArguments(tool, context.mcpReq.inputResponses) };
    const whole = { ...given, ...args };
    const missing = missingArguments(tool, whole);
    if (elicitation && missing.length) return this.#askFor(tool, missing, args, given);
    const { engine } = this;
    switch (protocol) {
      case 'operation': {
        const { id: requestId } = context.mcpReq;
        const start = (started: (token: string) => void) =>
          startOperation(engine, tool, whole, field, { requestId }, started);
        const { connection } = this;
        const result = connection
          ? await connection.cancellations.track(connection.session, requestId, start)
          : await start(() => undefined);
        return { ...result };
      }
      case 'two-stage':
        return { ...(await startJob(engine, tool, whole, { keepAliveSeconds })) };
      case 'task':
        return startTask(engine, tool, whole, elicitation);
      case 'plain': {
        const outcome = await callPlainTool(engine, tool, whole, this.#callerOf(context, NOTHING_TAKEN));
        return this.#resultOf(outcome, tool.name, args, NOTHING_TAKEN);
      }
    }
  }

  /** Asks for missing arguments before anything starts. requestState carries the answers of earlier rounds. */
  #askFor(tool: Tool, missing: string[], args: Arguments, given: Arguments): InputRequiredResult {
    const inputRequests = argumentRequests(tool, missing);
    if (Object.keys(given).length === 0) return inputRequired({ inputRequests });
    const requestState = this.#states.write(tool.name, args, { at: 'asking', given });
    return inputRequired({ inputRequests, requestState });
  }

  #resultOf(outcome: PlainOutcome, name: string, args: Arguments, taken: TakenAnswers): Result {
    if (!('question' in outcome)) return { ...outcome };
    const record = outcome.question as Extract<PlainOutcome, { question: unknown }>['question'];
    const inputRequests = operationRequests(record, taken);
    const keys = Object.keys(inputRequests);
    const requestState = this.#states.write(name, args, { at: 'waiting', token: record.token, keys });
    return inputRequired({ inputRequests, requestState });
  }

  #callerOf(context: ServerContext, { answered }: TakenAnswers): CallContext {
    const { mcpReq } = context;
    const { progressToken, [PERSON_META_KEY]: isPerson } = mcpReq._meta ?? {};
    const { elicitation } = clientOf(context);
    const clientName = clientNameOf(mcpReq.envelope);
    return {
      signal: mcpReq.signal,
      shutdown: this.shutdown,
      isPerson: isPerson === true,
      clientName,
      ...(progressToken === undefined
        ? {}
        : {
            onProgress: async (progress) => {
              await mcpReq.notify({
                method: 'notifications/progress',
                params: { progressToken, ...progress },
              });
            },
          }),
      ...(elicitation ? { questions: { kind: 'result', answered } } : {}),
    };
  }
}
