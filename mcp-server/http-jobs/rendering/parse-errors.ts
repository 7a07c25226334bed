/**
 * Requests that Node's HTTP parser rejects before routing. By default Node answers with a bare status and closes, which a client
 * that is still writing sees as a broken connection. So this reads and drops the rest of the request.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Problem, problemDocument, PROBLEM_CONTENT_TYPE } from '../index.js';

/** How long a client gets to finish writing, in milliseconds. */
const DRAIN_MS = 2_000;

export function answerParseErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const isTooLarge = error.code === 'HPE_HEADER_OVERFLOW';
    const isTooSlow = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    const problem = isTooLarge
      ? new Problem('headers-too-large', 'expected at most 16 KiB of address and headers; got more')
      : isTooSlow
        ? new Problem(
            'request-timeout',
            'expected headers and body within the time-outs of docs/limits.md; got a part',
          )
        : new Problem('invalid-request', `expected a request of HTTP/1.1; ${error.message}`);
    const body = JSON.stringify(problemDocument(problem, ''));
    const head = [
      `HTTP/1.1 ${isTooLarge ? '431 Request Header Fields Too Large' : isTooSlow ? '408 Request Timeout' : '400 Bad Request'}`,
      `Content-Type: ${PROBLEM_CONTENT_TYPE}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      'X-Content-Type-Options: nosniff',
      'Connection: close',
    ];
    socket.removeAllListeners('data');
    socket.on('data', () => undefined);
    socket.resume();
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
    setTimeout(() => socket.destroy(), DRAIN_MS).unref();
  });
}
