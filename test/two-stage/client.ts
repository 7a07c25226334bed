/**
 * A client of two-stage returns, written from their document alone: JSON over HTTP or stdio. It opts in, calls, polls, and
 * records notifications.
 */
import type { ChildProcess } from 'node:child_process';
import type { StdioServers } from '../support/stdio-servers.js';

export const OPT_IN = { experimental: { twoStage: {} } };

export interface TwoStageClient {
  /** The result of initialize. */
  initialized: any;
  /** Sends a request and returns the response message. */
  request(method: string, params?: object): Promise<any>;
  /** Notifications and requests of the server, in order of arrival. */
  readonly notifications: any[];
  /** Answers a request of the server; over HTTP with the status of that POST. */
  respond(id: string, result: object): Promise<number | undefined>;
  close(): Promise<void>;
}

/** Notifications of a job, grouped by method. */
export function notificationsOf(client: Pick<TwoStageClient, 'notifications'>, jobId: string) {
  const of = (method: string) =>
    client.notifications
      .filter((one) => one.method === `notifications/${method}` && one.params.job_id === jobId)
      .map(({ params }) => params);
  return { progress: of('progress'), results: of('tool_result') };
}

const initialize = (version: string, capabilities: object) => ({
  protocolVersion: version,
  capabilities,
  clientInfo: { name: 'two-stage-client', version: '1' },
});

export interface HttpOptions {
  version?: string;
  capabilities?: object;
}

/** Over HTTP: each message is a POST, and notifications come on the session's GET stream. */
export class HttpClient implements TwoStageClient {
  initialized: any;
  readonly notifications: any[] = [];
  /** ID of the last event received, to resume the stream from. */
  lastEventId: string | undefined;
  #session = '';
  #lastId = 0;
  #stream: AbortController | undefined;
  readonly #version: string;

  private constructor(
    public url: string,
    private readonly options: HttpOptions,
  ) {
    this.#version = options.version ?? '2025-11-25';
  }

  static async open(url: string, options: HttpOptions = {}): Promise<HttpClient> {
    const client = new HttpClient(url, options);
    client.initialized = await client.request(
      'initialize',
      initialize(client.#version, options.capabilities ?? OPT_IN),
    );
    return client;
  }

  async request(method: string, params: object = {}): Promise<any> {
    this.#lastId += 1;
    const response = await fetch(this.url, {
      method: 'POST',
      headers: this.#headers('application/json, text/event-stream'),
      body: JSON.stringify({ jsonrpc: '2.0', id: this.#lastId, method, params }),
    });
    this.#session ||= response.headers.get('mcp-session-id') ?? '';
    const text = await response.text();
    const isStream = response.headers.get('content-type')?.includes('event-stream');
    const messages = (isStream ? events(text).map(({ data }) => data) : [JSON.parse(text)]).filter(Boolean);
    const answer = messages.pop();
    this.notifications.push(...messages);
    return answer;
  }

  async respond(id: string, result: object): Promise<number> {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: this.#headers('application/json, text/event-stream'),
      body: JSON.stringify({ jsonrpc: '2.0', id, result }),
    });
    await response.text();
    return response.status;
  }

  /** Opens the session's stream, resuming it after the last event received, if there is one. */
  async listen(): Promise<void> {
    this.#stream = new AbortController();
    const response = await fetch(this.url, {
      headers: {
        ...this.#headers('text/event-stream'),
        ...(this.lastEventId === undefined ? {} : { 'last-event-id': this.lastEventId }),
      },
      signal: this.#stream.signal,
    });
    if (!response.ok) throw new Error(`GET ${response.status}: ${await response.text()}`);
    void this.#read(response).catch(() => undefined);
  }

  /** Aborts the connection. */
  drop(): void {
    this.#stream?.abort();
  }

  async close(): Promise<void> {
    this.drop();
  }

  async #read(response: Response): Promise<void> {
    let rest = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream() as any) as any) {
      const blocks = (rest + chunk).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const { id, data } of events(blocks.join('\n\n'))) {
        this.lastEventId = id ?? this.lastEventId;
        if (data !== undefined) this.notifications.push(data);
      }
    }
  }

  #headers(accept: string): Record<string, string> {
    return {
      'content-type': 'application/json',
      accept,
      'mcp-protocol-version': this.#version,
      ...(this.#session ? { 'mcp-session-id': this.#session } : {}),
    };
  }
}

function events(text: string): { id?: string; data?: any }[] {
  return text.split('\n\n').map((block) => {
    const field = (name: string) =>
      block
        .split('\n')
        .find((line) => line.startsWith(`${name}:`))
        ?.slice(name.length + 1)
        .trim();
    const [id, data] = [field('id'), field('data')];
    return { ...(id ? { id } : {}), ...(data ? { data: JSON.parse(data) } : {}) };
  });
}

/** Over stdio: one line per message. */
export class StdioClient implements TwoStageClient {
  initialized: any;
  readonly notifications: any[] = [];
  /** All messages received, including answers. */
  readonly received: any[] = [];
  readonly #waiting = new Map<number, (response: any) => void>();
  #lastId = 0;

  private constructor(private readonly child: ChildProcess) {
    let rest = '';
    child.stdout!.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#receive(JSON.parse(line));
    });
  }

  static async open(stdio: StdioServers, capabilities: object = OPT_IN): Promise<StdioClient> {
    const client = new StdioClient(stdio.run().process);
    client.initialized = await client.request('initialize', initialize('2025-11-25', capabilities));
    return client;
  }

  request(method: string, params: object = {}): Promise<any> {
    const id = ++this.#lastId;
    this.child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  async respond(id: string, result: object): Promise<undefined> {
    this.child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.child.once('close', resolve));
    this.child.stdin!.end();
    await closed;
  }

  #receive(message: any): void {
    this.received.push(message);
    if (message.method !== undefined) this.notifications.push(message);
    else this.#waiting.get(message.id)?.(message);
  }
}
