/** Two servers behind a proxy, each of which can be killed and started again; one worker. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { eventually, freePort } from '../stack/cli-process.js';
import { type Part, TestStack } from '../support/test-stack.js';
import { RoundRobinProxy } from './round-robin.js';

export class TwoServers {
  readonly #servers = new Map<number, Part>();

  private constructor(
    readonly parts: TestStack,
    readonly proxy: RoundRobinProxy,
  ) {}

  static async start(environment: Record<string, string> = {}): Promise<TwoServers> {
    // Own servers: tests kill them. The run's worker has the default settings.
    const hasSettings = Object.keys(environment).length > 0;
    const parts = await (hasSettings ? TestStack.start(environment) : TestStack.serverOnSharedWorker({}));
    const ports = [parts.port, await freePort()];
    const two = new TwoServers(parts, await RoundRobinProxy.start(ports));
    two.#servers.set(ports[0]!, parts.parts[0]!);
    two.#servers.set(ports[1]!, parts.server({ LONGHAUL_PORT: String(ports[1]) }));
    await two.#ready(ports[1]!);
    return two;
  }

  get ports(): number[] {
    return [...this.#servers.keys()];
  }

  /** kill -9; the other one stays. */
  async kill(port: number): Promise<void> {
    await this.#servers.get(port)!.end('SIGKILL');
  }

  /** Ends it in good order; the other one stays. */
  async end(port: number): Promise<void> {
    await this.#servers.get(port)!.end('SIGTERM');
  }

  async restart(port: number): Promise<void> {
    this.#servers.set(port, this.parts.server({ LONGHAUL_PORT: String(port) }));
    await this.#ready(port);
  }

  async #ready(port: number): Promise<void> {
    await eventually(`the server on ${port} is ready`, () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
  }

  /** Kills the server that works on an open request with this text, and says which one it was. */
  async killServing(text: string): Promise<number> {
    const { port } = await eventually(`a server works on ${text}`, () => this.proxy.open(text));
    await this.kill(port);
    return port;
  }

  async stop(): Promise<void> {
    await this.proxy.stop();
    await this.parts.stop();
  }
}

/** The official client of the older revisions, which resumes an interrupted stream. */
export async function olderClient(
  url: string,
): Promise<{ client: Client; transport: StreamableHTTPClientTransport }> {
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    reconnectionOptions: {
      initialReconnectionDelay: 200,
      maxReconnectionDelay: 1_000,
      reconnectionDelayGrowFactor: 1.5,
      maxRetries: 60,
    },
  });
  const client = new Client(
    { name: 'longhaul-tests', version: '1' },
    { capabilities: { elicitation: { form: {} } } },
  );
  await client.connect(transport);
  return { client, transport };
}

interface Stream {
  requestId: number | undefined;
  messages: any[];
  lastEventId(): string | undefined;
  /** Resolves when the stream has ended, or was cut off. */
  ended: Promise<void>;
  close(): void;
}

/** A session of 2025-11-25 that shows the wire as it is. */
export async function rawSession(url: string) {
  let id = 0;
  const controllers = new WeakMap<Response, AbortController>();
  const send = async (method: 'GET' | 'POST', headers: Record<string, string>, body?: object) => {
    const controller = new AbortController();
    const response = await fetch(url, {
      method,
      headers: { accept: 'application/json, text/event-stream', ...headers },
      signal: controller.signal,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    controllers.set(response, controller);
    return response;
  };
  const json = { 'content-type': 'application/json' };
  const initialized = await send('POST', json, {
    jsonrpc: '2.0',
    id: ++id,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: {} },
      clientInfo: { name: 'longhaul-tests', version: '1' },
    },
  });
  await initialized.text();
  const session = {
    'mcp-session-id': initialized.headers.get('mcp-session-id')!,
    'mcp-protocol-version': '2025-11-25',
  };
  const read = (response: Response, requestId?: number): Stream => {
    const messages: any[] = [];
    let lastEventId: string | undefined;
    const follow = async () => {
      let rest = '';
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream() as any) as any) {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          if (line.startsWith('id: ')) lastEventId = line.slice(4);
          if (/^data: ./.test(line)) messages.push(JSON.parse(line.slice(6)));
        }
      }
    };
    return {
      requestId,
      messages,
      lastEventId: () => lastEventId,
      ended: follow().catch(() => undefined),
      close: () => controllers.get(response)!.abort(),
    };
  };
  const open = async (method: string, params: object) => {
    const requestId = ++id;
    const response = await send(
      'POST',
      { ...json, ...session },
      { jsonrpc: '2.0', id: requestId, method, params },
    );
    return { response, requestId };
  };
  return {
    /** Makes a request and waits for its response, whether it comes as JSON or on a stream. */
    async request(method: string, params: object): Promise<any> {
      const { response } = await open(method, params);
      if (!response.headers.get('content-type')?.includes('event-stream')) return response.json();
      const stream = read(response);
      await stream.ended;
      return stream.messages.at(-1);
    },
    /** Makes a request whose stream stays open. */
    async open(method: string, params: object): Promise<Stream> {
      const { response, requestId } = await open(method, params);
      return read(response, requestId);
    },
    /** Comes back to a stream. */
    async resume(lastEventId: string): Promise<Stream> {
      return read(await send('GET', { ...session, 'last-event-id': lastEventId }));
    },
    /** Opens the session's own stream. */
    async listen(): Promise<Stream> {
      return read(await send('GET', session));
    },
  };
}
