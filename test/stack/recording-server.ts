import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RecordingServer {
  /** `http://127.0.0.1:port` */
  url: string;
  /** Paths of all requests. */
  requests: string[];
  close(): Promise<void>;
}

/** An HTTP server on loopback that records requests and answers all of them with one status. */
export async function startRecordingServer(status: number): Promise<RecordingServer> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.writeHead(status).end();
  });
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => new Promise((settle) => server.close(() => settle())),
  };
}
