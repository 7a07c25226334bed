/** A raw client of the revisions up to 2025-11-25, which exposes messages and events as sent. */
import { eventually, freePort } from '../stack/cli-process.js';
import { parseEvents, readEvents, type SseEvent, type SseStream } from '../support/sse.js';
import type { Part, TestStack } from '../support/test-stack.js';

export const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;
export const FORMS = { elicitation: {} };
export const RELATED_TASK = 'io.modelcontextprotocol/related-task';

export interface Stream extends SseStream {
  /** The parsed data of the events. */
  messages(): any[];
}

/** Params of `initialize`. */
export const initializeParams = (
  protocolVersion: string,
  capabilities: object = {},
  name = 'longhaul-tests',
) => ({ protocolVersion, capabilities, clientInfo: { name, version: '1' } });

/** The first form that a stream shows. */
export const formOn = (stream: { messages(): any[] }): Promise<any> =>
  eventually('it asks', () => stream.messages().find(({ method }) => method === 'elicitation/create'));

export class LegacyClient {
  #id = 0;
  session = '';
  /** The answer to initialize. */
  initialized: any;

  constructor(
    public url: string,
    readonly version: string = '2025-11-25',
    readonly capabilities: object = {},
    /** clientInfo.name. */
    readonly name = 'longhaul-tests',
    /** API key or access token. */
    readonly credential?: string,
  ) {}

  /** Initializes a session. */
  static async open(
    url: string,
    version?: string,
    capabilities?: object,
    name?: string,
    credential?: string,
  ): Promise<LegacyClient> {
    const client = new LegacyClient(url, version, capabilities, name, credential);
    await client.initialize();
    return client;
  }

  async initialize(): Promise<any> {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...this.#authorization,
      },
      body: JSON.stringify(
        this.message('initialize', initializeParams(this.version, this.capabilities, this.name)),
      ),
    });
    this.initialized = await response.json();
    this.session = response.headers.get('mcp-session-id') ?? '';
    await this.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return this.initialized.result;
  }

  get #authorization(): Record<string, string> {
    return this.credential === undefined ? {} : { authorization: `Bearer ${this.credential}` };
  }

  message(method: string, params: object = {}) {
    return { jsonrpc: '2.0', id: ++this.#id, method, params };
  }

  headers(more: Record<string, string> = {}): Record<string, string> {
    return {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': this.version,
      ...(this.session ? { 'mcp-session-id': this.session } : {}),
      ...this.#authorization,
      ...more,
    };
  }

  post(body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
    return fetch(this.url, {
      method: 'POST',
      headers: this.headers(headers),
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(signal ? { signal } : {}),
    });
  }

  /** Sends a request and returns its answer, with the messages before it on the stream. */
  async request(method: string, params: object = {}, signal?: AbortSignal): Promise<any> {
    const message = this.message(method, params);
    const response = await this.post(message, {}, signal);
    const text = await response.text();
    const messages = response.headers.get('content-type')?.includes('event-stream')
      ? dataOf(parseEvents(text))
      : [JSON.parse(text)];
    const answer = messages.find(({ id }) => id === message.id) ?? messages.at(-1);
    return { httpStatus: response.status, before: messages.filter((one) => one !== answer), ...answer };
  }

  call(name: string, args: object = {}, more: object = {}): Promise<any> {
    return this.request('tools/call', { name, arguments: args, ...more });
  }

  /** Calls a tool as a task. */
  async task(name: string, args: object = {}, task: object = {}, more: object = {}): Promise<any> {
    const { result, error } = await this.call(name, args, { task, ...more });
    if (error) throw new Error(JSON.stringify(error));
    return result.task;
  }

  /** Sends a request and returns its open stream. */
  async stream(message: object): Promise<Stream> {
    const gone = new AbortController();
    return follow(await this.post(message, {}, gone.signal), gone);
  }

  /** Opens the session's own stream, or resumes an interrupted stream. */
  async listen(lastEventId?: string, url = this.url): Promise<Stream> {
    const gone = new AbortController();
    const headers = this.headers(lastEventId === undefined ? {} : { 'last-event-id': lastEventId });
    const response = await fetch(url, {
      headers: { ...headers, accept: 'text/event-stream' },
      signal: gone.signal,
    });
    return follow(response, gone);
  }

  /** Answers a request of the server. */
  respond(id: string, result: object): Promise<Response> {
    return this.post({ jsonrpc: '2.0', id, result });
  }

  async until(taskId: string, wanted: string | ((task: any) => boolean), limitMs = 120_000): Promise<any> {
    const holds = typeof wanted === 'string' ? (task: any) => task.status === wanted : wanted;
    return eventually(
      `the task is ${String(wanted)}`,
      async () => {
        const { result } = await this.request('tasks/get', { taskId });
        return result && holds(result) ? result : undefined;
      },
      limitMs,
    );
  }
}

function follow(response: Response, gone: AbortController): Stream {
  const stream = readEvents(response, gone);
  return { ...stream, messages: () => dataOf(stream.events) };
}

const dataOf = (events: SseEvent[]) => events.flatMap(({ data }) => (data === undefined ? [] : [data]));

/** Starts another server process on the same home and Temporal. */
export async function secondServer(
  parts: TestStack,
  environment: Record<string, string> = {},
): Promise<{ url: string; part: Part }> {
  const port = await freePort();
  const part = parts.server({ ...environment, LONGHAUL_PORT: String(port) });
  const base = `http://127.0.0.1:${port}`;
  await eventually('the second server is ready', () =>
    fetch(`${base}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return { url: `${base}/mcp`, part };
}
