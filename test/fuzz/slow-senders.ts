/** Clients that stop in the middle of a request: the server closes their connections at the limits of docs/limits.md. */
import { connect } from 'node:net';

/** Limits of the server, its interval of checks, and room for a busy machine, in milliseconds. */
const HEADERS_MS = 20_000;
const REQUEST_MS = 120_000;
const SLACK_MS = 15_000;

interface Sender {
  name: string;
  /** Sent at once. */
  first: string;
  /** Sent every second. */
  then?: string;
  /** Ends the sending side after the first bytes. */
  isHalfClosed?: boolean;
  limitMs: number;
  /** Expected at the beginning of the answer; nothing if the connection may just end. */
  answer?: string;
}

const HEAD = 'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n';

const HEADER_SENDERS: Sender[] = [
  { name: 'no bytes', first: '', limitMs: HEADERS_MS },
  { name: 'half a request line', first: 'POST /m', limitMs: HEADERS_MS, answer: 'HTTP/1.1 408' },
  {
    name: 'headers without an end',
    first: HEAD,
    then: 'X-A: 1\r\n',
    limitMs: HEADERS_MS,
    answer: 'HTTP/1.1 408',
  },
  {
    name: 'a body cut by a half-close',
    first: `${HEAD}Content-Length: 100\r\n\r\n{"a":`,
    isHalfClosed: true,
    limitMs: 1_000,
  },
  { name: 'a half-close before any byte', first: '', isHalfClosed: true, limitMs: 1_000 },
];

const BODY_SENDERS: Sender[] = [
  {
    name: 'a body without its end',
    first: `${HEAD}Content-Length: 100\r\n\r\n{"a":`,
    limitMs: REQUEST_MS,
    answer: 'HTTP/1.1 408',
  },
  {
    name: 'a body by the byte',
    first: `${HEAD}Content-Length: 9999\r\n\r\n{`,
    then: ' ',
    limitMs: REQUEST_MS,
    answer: 'HTTP/1.1 408',
  },
  {
    name: 'chunks without an end',
    first: `${HEAD}Transfer-Encoding: chunked\r\n\r\n`,
    then: '1\r\n \r\n',
    limitMs: REQUEST_MS,
    answer: 'HTTP/1.1 408',
  },
  {
    name: 'a job in chunks without an end',
    first:
      'POST /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    then: '1\r\n \r\n',
    limitMs: REQUEST_MS,
    answer: 'HTTP/1.1 408',
  },
];

/**
 * @param withBodies also the senders that take two minutes
 * @returns violations
 */
export async function slowSenders(base: string, withBodies: boolean): Promise<string[]> {
  const senders = withBodies ? [...HEADER_SENDERS, ...BODY_SENDERS] : HEADER_SENDERS;
  return (await Promise.all(senders.map((sender) => violationOf(Number(new URL(base).port), sender)))).flat();
}

function violationOf(port: number, sender: Sender): Promise<string[]> {
  const { name, first, then, isHalfClosed = false, limitMs, answer = '' } = sender;
  return new Promise((settle) => {
    const from = performance.now();
    let received = '';
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const dribble = then === undefined ? undefined : setInterval(() => socket.write(then), 1_000);
    const finish = (isClosed: boolean) => {
      clearInterval(dribble);
      clearTimeout(timer);
      socket.destroy();
      const tookMs = Math.round(performance.now() - from);
      if (!isClosed) settle([`slow sender, ${name}: open after ${tookMs} ms`]);
      else if (!received.startsWith(answer))
        settle([`slow sender, ${name}: closed with ${JSON.stringify(received.slice(0, 200))}`]);
      else settle([]);
    };
    const timer = setTimeout(() => finish(false), limitMs + SLACK_MS);
    socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('end', () => finish(true));
    socket.on('close', () => finish(true));
    socket.write(first);
    if (isHalfClosed) socket.end();
  });
}
