/** A client of revision 2026-07-28 that exposes raw messages, for tests of details that the official clients hide. */
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../stack/cli-process.js';
import { parseEvents, readEvents } from './sse.js';

export const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
export const TASKS_AND_FORMS = { ...TASKS, elicitation: {} };

/** Maximum wait for a Temporal that is started again, in milliseconds. */
const RESTART_LIMIT_MS = 60_000;

export interface RpcAnswer {
  httpStatus: number;
  result?: any;
  error?: { code: number; message: string; data?: any };
  /** Notifications that came before the answer, when it was a stream. */
  notifications: any[];
}

export class WireClient {
  #id = 0;

  constructor(
    readonly url: string,
    readonly capabilities: object = TASKS_AND_FORMS,
    /** Its clientInfo.name. */
    readonly name = 'longhaul-tests',
    /** API key or access token. */
    readonly credential?: string,
  ) {}

  /** The same server, seen by a client with other capabilities. */
  with(capabilities: object, name = this.name): WireClient {
    return new WireClient(this.url, capabilities, name, this.credential);
  }

  /** The same server, called with an API key or access token. */
  as(credential: string): WireClient {
    return new WireClient(this.url, this.capabilities, this.name, credential);
  }

  envelope(method: string, params: Record<string, any> = {}) {
    this.#id += 1;
    return {
      jsonrpc: '2.0',
      id: this.#id,
      method,
      params: {
        ...params,
        _meta: {
          ...params['_meta'],
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: this.name, version: '1' },
          'io.modelcontextprotocol/clientCapabilities': this.capabilities,
        },
      },
    };
  }

  headers(method: string, params: Record<string, any> = {}): Record<string, string> {
    const name = params['name'] ?? params['taskId'] ?? params['uri'];
    return {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(this.credential === undefined ? {} : { authorization: `Bearer ${this.credential}` }),
      ...(name === undefined ? {} : { 'mcp-name': name }),
    };
  }

  post(body: string, headers: Record<string, string>, signal?: AbortSignal): Promise<Response> {
    return fetch(this.url, { method: 'POST', body, headers, ...(signal ? { signal } : {}) });
  }

  async request(
    method: string,
    params: Record<string, any> = {},
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ): Promise<RpcAnswer> {
    const response = await this.post(
      JSON.stringify(this.envelope(method, params)),
      { ...this.headers(method, params), ...headers },
      signal,
    );
    const text = await response.text();
    if (!response.headers.get('content-type')?.includes('event-stream')) {
      return { httpStatus: response.status, notifications: [], ...(text ? JSON.parse(text) : {}) };
    }
    const messages = parseEvents(text).flatMap(({ data }) => (data === undefined ? [] : [data]));
    return { httpStatus: response.status, ...messages.at(-1), notifications: messages.slice(0, -1) };
  }

  call(name: string, args: object = {}): Promise<RpcAnswer> {
    return this.request('tools/call', { name, arguments: args });
  }

  /** Calls a tool that becomes a task. Calls again while Temporal doesn't answer: the run's own may be started again. */
  async start(name: string, args: object = {}): Promise<string> {
    const lastMs = performance.now() + RESTART_LIMIT_MS;
    for (;;) {
      const answer = await this.call(name, args);
      if (answer.result?.resultType === 'task') return answer.result.taskId;
      const isUnanswered = answer.result?.content?.[0]?.text?.startsWith('Temporal did not answer in time');
      if (!isUnanswered || performance.now() > lastMs) throw new Error(`no task: ${JSON.stringify(answer)}`);
      await delay(500);
    }
  }

  async get(taskId: string): Promise<any> {
    const { result, error } = await this.request('tasks/get', { taskId });
    if (error) throw new Error(`tasks/get: ${JSON.stringify(error)}`);
    return result;
  }

  /** Polls until the task is as wanted; through restarts of the server. */
  async until(taskId: string, wanted: string | ((task: any) => boolean), limitMs = 120_000): Promise<any> {
    const holds = typeof wanted === 'string' ? (task: any) => task.status === wanted : wanted;
    let last: unknown;
    try {
      return await eventually(
        `the task is ${String(wanted)}`,
        async () => {
          const task = await this.get(taskId).catch((error: unknown) => void (last = error));
          last = task ?? last;
          return task && holds(task) ? task : undefined;
        },
        limitMs,
      );
    } catch (error) {
      throw new Error(
        `${String(error)}; last seen: ${last instanceof Error ? last.message : JSON.stringify(last)}`,
        { cause: error },
      );
    }
  }

  async answer(taskId: string, key: string, response: object): Promise<RpcAnswer> {
    return this.request('tasks/update', { taskId, inputResponses: { [key]: response } });
  }

  /** Accepts what a task asks next. */
  async accept(taskId: string, content: object): Promise<RpcAnswer> {
    const { inputRequests } = await this.until(taskId, 'input_required');
    return this.answer(taskId, Object.keys(inputRequests)[0]!, { action: 'accept', content });
  }

  /** Opens subscriptions/listen; messages are collected as they come. */
  async listen(
    notifications: object,
  ): Promise<{ messages: any[]; response: Response; close: () => void; ended: Promise<boolean> }> {
    const controller = new AbortController();
    const response = await this.post(
      JSON.stringify(this.envelope('subscriptions/listen', { notifications })),
      this.headers('subscriptions/listen'),
      controller.signal,
    );
    const messages: any[] = [];
    const { ended, close } = readEvents(response, controller, ({ data }) => messages.push(data));
    return { messages, response, close, ended };
  }
}
