/** A proxy before a server, which answers some requests itself: to see that the fuzzer reports it. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

export interface FaultyProxy {
  base: string;
  close(): Promise<void>;
}

/**
 * @param trigger text of the requests that get the fault
 * @param fault bytes of the answer; undefined for none at all
 */
export async function faultyProxy(
  base: string,
  trigger: string,
  fault: string | undefined,
): Promise<FaultyProxy> {
  const port = Number(new URL(base).port);
  const open = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (client) => {
    open.add(client);
    client.on('error', () => undefined);
    client.on('close', () => open.delete(client));
    client.once('data', (first: Buffer) => {
      if (isMutated(first) && first.includes(trigger)) {
        if (fault !== undefined) client.end(fault);
        return;
      }
      const upstream = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      upstream.on('error', () => client.destroy());
      client.on('close', () => upstream.destroy());
      upstream.write(first);
      client.pipe(upstream).pipe(client);
    });
  });
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((settle) => {
        server.close(() => settle());
        for (const socket of open) socket.destroy();
      }),
  };
}

/** Requests that build the corpus come from fetch, and keep their connection. */
function isMutated(bytes: Buffer): boolean {
  return /^connection: close/im.test(bytes.toString('latin1'));
}

/** An HTTP response with a JSON body. */
export function jsonResponse(status: number, body: object): string {
  const text = JSON.stringify(body);
  return `HTTP/1.1 ${status} X\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`;
}
