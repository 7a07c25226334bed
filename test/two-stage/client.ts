/**
 * A client of two-stage returns, written from their document alone, over connections of MCP. It opts in, calls, polls, and records
 * notifications.
 */
import { LegacyClient, type Stream } from '../revision-2025-11-25/wire.js';
import { connectStdio } from '../sep-1391/client.js';
import { eventually } from '../support/eventually.js';
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
export async function openStdio(stdio: StdioServers): Promise<TwoStageClient & { readonly received: any[] }> {
  const wire = await connectStdio(stdio.run().process, 'legacy', OPT_IN);
  return {
    initialized: wire.initialized,
    request: (method, params) => wire.request(method, params),
    notifications: wire.messages,
    received: wire.received,
    respond: async (id, result) => void (await wire.respond(id, result)),
    close: () => wire.close(),
  };
}

type Requester = Pick<TwoStageClient, 'request'>;

/** Starts a job. @returns its ID */
export async function start(
  by: Requester,
  name: string,
  args: object = {},
  more: object = {},
): Promise<string> {
  const { result, error } = await by.request('tools/call', { name, arguments: args, ...more });
  if (!result?.data?.job_id) throw new Error(JSON.stringify(error ?? result));
  return result.data.job_id;
}

export async function poll(by: Requester, jobId: unknown): Promise<any> {
  return (await by.request('tools/poll_result', { job_id: jobId })).result;
}

/** Polls until the job is complete. @returns the poll's data */
export function complete(by: Requester, jobId: string): Promise<any> {
  return eventually('it is complete', async () => {
    const { data } = await poll(by, jobId);
    return data.status === 'complete' && data;
  });
}
