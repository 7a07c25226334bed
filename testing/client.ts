/** The environment's client: MCP 2026-07-28 over HTTP, as the command line speaks it, with errors by their kind. */
import { listArtifacts, openArtifact, type ListedArtifact } from '../cli/client/jobs-api.js';
import { Connection, RpcError, Unreachable } from '../cli/client/connection.js';
import { listTools, type ToolList } from '../cli/tools/list-tools.js';
import { watchTask } from '../cli/follow/watch.js';
import { CommandFailure } from '../cli/failure.js';
import {
  asTask,
  type CallAnswer,
  type ProtocolTask,
  type Task,
  type ToolResult,
} from '../cli/client/wire.js';
import { ERROR_META_KEY } from '../operations/wire/meta-keys.js';
import type { OperationError } from '../operations/errors.js';
import { longhaulPackage } from '../platform/home/package.js';
import { refusal } from './errors.js';

/** Limit for an answer in milliseconds: reading a closed workflow may replay it first. */
const ANSWER_LIMIT_MS = 60_000;

/** Fields of an operation that only the HTTP jobs API has. */
interface Job {
  partial?: unknown;
  partial_bytes?: number;
  error?: OperationError;
}

export class TestClient {
  readonly #connection: Connection;

  constructor(readonly url: URL) {
    this.#connection = new Connection(url, longhaulPackage().version, 'longhaul-testing');
  }

  /** @throws LonghaulError */
  listTools(): Promise<ToolList> {
    return listTools((params) => this.#request('tools/list', params));
  }

  /**
   * Calls a tool.
   *
   * @param askFor values for the arguments in the tool's `askFor`, which it asks for before it starts
   * @throws LonghaulError when the server refuses the call
   */
  async callTool(
    name: string,
    args: Record<string, unknown>,
    askFor: Record<string, unknown> = {},
  ): Promise<Exclude<CallAnswer, { resultType: 'input_required' }>> {
    const call = { name, arguments: args };
    let answer = await this.#request<CallAnswer>('tools/call', call, Infinity);
    if (answer.resultType === 'input_required' && answer.inputRequests) {
      const asked = Object.keys(answer.inputRequests);
      const missing = asked.filter((argument) => askFor[argument] === undefined);
      if (missing.length > 0)
        throw refusal(
          'invalid_arguments',
          `${name} asks for ${missing.join(', ')} before it starts: give the arguments, or their answers in askFor`,
        );
      const inputResponses = Object.fromEntries(
        asked.map((argument) => [argument, { action: 'accept', content: { [argument]: askFor[argument] } }]),
      );
      const { requestState } = answer;
      answer = await this.#request<CallAnswer>(
        'tools/call',
        { ...call, inputResponses, requestState },
        Infinity,
      );
    }
    if (answer.resultType === 'input_required')
      throw refusal('wrong_state', `${name} asks again before it starts: ${JSON.stringify(answer)}`);
    if (answer.resultType !== 'task' && answer.isError) throw refusalIn(answer);
    return answer;
  }

  /** Calls one of Longhaul's own tools. @throws LonghaulError when it refuses */
  async callOperationTool(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
    const result = await this.#request<ToolResult>('tools/call', { name, arguments: args });
    if (result.isError) throw refusalIn(result);
    return result.structuredContent as Record<string, unknown>;
  }

  /** @throws LonghaulError `not_found`, `expired`, `unavailable` */
  async task(taskId: string): Promise<Task> {
    return asTask(await this.#request<ProtocolTask>('tasks/get', { taskId }));
  }

  /** Yields the task's state at each change, until it is closed or the signal aborts. */
  async *watch(taskId: string, signal: AbortSignal): AsyncGenerator<Task> {
    const source = {
      request: this.#connection.request.bind(this.#connection),
      task: async (id: string, ended?: AbortSignal) =>
        asTask(await this.#connection.request<ProtocolTask>('tasks/get', { taskId: id }, { signal: ended })),
    };
    try {
      yield* watchTask(source, taskId, { signal, isKnown: true, onConnectionChange: () => undefined });
    } catch (error) {
      throw asRefusal(error);
    }
  }

  /** The log's text so far. @throws LonghaulError */
  async log(uri: string): Promise<string> {
    let text = '';
    for (let next: string | undefined = uri; next !== undefined;) {
      const { contents }: { contents: { text: string; _meta: Record<string, unknown> }[] } =
        await this.#request('resources/read', { uri: next });
      text += contents[0]!.text;
      const page = contents[0]!._meta['longhaul/log'] as { is_at_end: boolean; next_uri?: string };
      next = page.is_at_end ? undefined : page.next_uri;
    }
    return text;
  }

  /** @throws LonghaulError */
  job(token: string): Promise<Job> {
    return this.#json(token, '');
  }

  /** The full result or partial result, of any size. @throws LonghaulError */
  value(token: string, name: 'result' | 'partial'): Promise<unknown> {
    return this.#json(token, `/${name}`);
  }

  /** @throws LonghaulError */
  async artifacts(token: string): Promise<ListedArtifact[]> {
    return (await listArtifacts(this, token).catch(rethrow)).artifacts;
  }

  /** @throws LonghaulError `not_found` */
  async artifact(token: string, name: string): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of await openArtifact(this, token, name).catch(rethrow))
      chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #json<Body>(token: string, rest: string): Promise<Body> {
    const response = await fetch(new URL(`/v1/jobs/${encodeURIComponent(token)}${rest}`, this.url));
    const body = (await response.json()) as Body & { detail?: string };
    if (!response.ok) throw refusal('not_found', body.detail ?? `the server answered ${response.status}`);
    return body;
  }

  async #request<Result>(
    method: string,
    params: Record<string, unknown>,
    limitMs = ANSWER_LIMIT_MS,
  ): Promise<Result> {
    return this.#connection.request<Result>(method, params, { limitMs }).catch(rethrow);
  }
}

function rethrow(error: unknown): never {
  throw asRefusal(error);
}

function asRefusal(error: unknown): unknown {
  if (error instanceof RpcError)
    return refusal(
      error.kind ?? (error.code === -32602 ? 'not_found' : undefined),
      error.message,
      error.isRetryable,
    );
  if (error instanceof Unreachable)
    return refusal('unavailable', `the server of the environment does not answer: ${error.message}`, true);
  if (error instanceof CommandFailure) return refusal('not_found', error.message);
  return error;
}

/** The first text is the message. The rest is advice for models. */
function refusalIn({ content, _meta }: ToolResult) {
  const { kind, retryable } = (_meta?.[ERROR_META_KEY] ?? {}) as { kind?: string; retryable?: boolean };
  return refusal(kind, content?.[0]?.text ?? 'refused without a reason', retryable);
}
