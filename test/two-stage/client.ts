/**
 * A client of two-stage returns, written from their document alone, over connections of MCP. It opts in, calls, polls, and records
 * notifications.
 */
import type { ChildProcess } from 'node:child_process';
import { LegacyClient, type Stream } from '../revision-2025-11-25/wire.js';
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

export interface HttpOptions {
  version?: string;
  capabilities?: object;
}

/** Over HTTP: each message is a POST, and notifications come on the session's GET stream. */
export class HttpClient implements TwoStageClient {
  readonly #wire: LegacyClient;
  /** Messages on the streams of requests. */
  readonly #before: any[] = [];
  readonly #streams: Stream[] = [];
  #resumeFrom: string | undefined;

  private constructor(wire: LegacyClient) {
    this.#wire = wire;
  }

  static async open(url: string, options: HttpOptions = {}): Promise<HttpClient> {
    const { version, capabilities = OPT_IN } = options;
    return new HttpClient(await LegacyClient.open(url, version, capabilities, 'two-stage-client'));
  }

  get initialized(): any {
    return this.#wire.initialized;
  }

  get url(): string {
    return this.#wire.url;
  }

  set url(url: string) {
    this.#wire.url = url;
  }

  get notifications(): any[] {
    return [...this.#before, ...this.#streams.flatMap((stream) => stream.messages())];
  }

  /** ID to resume the stream from. Default: that of the last event received. */
  get lastEventId(): string | undefined {
    const events = this.#streams.flatMap((stream) => stream.events);
    return this.#resumeFrom ?? events.findLast(({ id }) => id)?.id;
  }

  set lastEventId(id: string | undefined) {
    this.#resumeFrom = id;
  }

  async request(method: string, params: object = {}): Promise<any> {
    const { before, ...answer } = await this.#wire.request(method, params);
    this.#before.push(...before);
    return answer;
  }

  async respond(id: string, result: object): Promise<number> {
    return (await this.#wire.respond(id, result)).status;
  }

  /** Opens the session's stream, resuming it after the last event received, if there is one. */
  async listen(): Promise<void> {
    const stream = await this.#wire.listen(this.lastEventId);
    if (!stream.response.ok) throw new Error(`GET ${stream.response.status}`);
    this.#streams.push(stream);
  }

  /** Aborts the connection. */
  drop(): void {
    this.#streams.at(-1)?.close();
  }

  async close(): Promise<void> {
    this.drop();
  }
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
    client.initialized = await client.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities,
      clientInfo: { name: 'two-stage-client', version: '1' },
    });
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
