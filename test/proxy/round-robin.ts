/** A round-robin HTTP proxy, as one stands before several servers: it streams, and passes over a server that is down. */
import { once } from 'node:events';
import {
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Exchange {
  port: number;
  method: string;
  body: string;
  isOpen: boolean;
}

export class RoundRobinProxy {
  readonly exchanges: Exchange[] = [];
  #next = 0;

  private constructor(
    private readonly server: Server,
    private readonly ports: number[],
  ) {}

  static async start(ports: number[]): Promise<RoundRobinProxy> {
    const server = createServer((incoming, outgoing) => void proxy.#pass(incoming, outgoing));
    const proxy = new RoundRobinProxy(server, ports);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/mcp`;
  }

  /** The latest exchange whose request's body holds the text, while it is open. */
  open(text: string): Exchange | undefined {
    return this.exchanges.findLast(({ body, isOpen }) => isOpen && body.includes(text));
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    for (let tries = 0; tries < this.ports.length; tries += 1) {
      const port = this.ports[this.#next++ % this.ports.length]!;
      if (await this.#forward(port, incoming, body, outgoing)) return;
    }
    outgoing.writeHead(502).end();
  }

  /** @returns false when the server can't be reached: nothing was sent then */
  #forward(
    port: number,
    { method, url, headers }: IncomingMessage,
    body: Buffer,
    outgoing: ServerResponse,
  ): Promise<boolean> {
    return new Promise((resolve) => {
      const exchange: Exchange = { port, method: method!, body: body.toString(), isOpen: true };
      const forwarded = request({
        port,
        host: '127.0.0.1',
        method,
        path: url,
        headers: endToEnd(headers),
        agent: false,
      });
      const end = () => {
        exchange.isOpen = false;
        forwarded.destroy();
        outgoing.destroy();
        resolve(true);
      };
      forwarded.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNREFUSED') resolve(false);
        else end();
      });
      forwarded.once('response', (response) => {
        outgoing.writeHead(response.statusCode!, endToEnd(response.headers));
        outgoing.flushHeaders();
        response.pipe(outgoing);
        // A server that dies leaves its response cut off, and the client is to see that.
        response.once('error', end);
        response.once('close', () => (response.complete ? (exchange.isOpen = false) : end()));
        resolve(true);
      });
      outgoing.once('close', () => {
        exchange.isOpen = false;
        forwarded.destroy();
      });
      this.exchanges.push(exchange);
      forwarded.end(body);
    });
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

/** Without the headers of one connection: how long a server keeps its own says nothing about the proxy's (RFC 9110, section 7.6.1). */
function endToEnd({
  connection: _connection,
  'keep-alive': _keepAlive,
  ...headers
}: IncomingHttpHeaders): IncomingHttpHeaders {
  return headers;
}
