/** Clients that stop in the middle of a request: the server closes their connections at the limits of docs/limits.md. */
import { connect } from 'node:net';

/** Limits of the server, its interval of checks, and room for a busy machine, in milliseconds. */
const HEADERS_MS = 20_000;
const REQUEST_MS = 120_000;
const SLACK_MS = 15_000;

const HEAD = 'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n';
/** First bytes -> bytes that follow every second. */
const HEADERS: [first: string, then?: string][] = [['POST /m'], [HEAD, 'X-A: 1\r\n']];
const BODIES: [first: string, then?: string][] = [
  [`${HEAD}Content-Length: 9999\r\n\r\n{`, ' '],
  [`${HEAD.replace('/mcp', '/v1/jobs')}Transfer-Encoding: chunked\r\n\r\n`, '1\r\n \r\n'],
];

/**
 * @param withBodies also the senders that take two minutes
 * @returns violations
 */
export async function slowSenders(base: string, withBodies: boolean): Promise<string[]> {
  const port = Number(new URL(base).port);
  const send =
    (limitMs: number) =>
    ([first, then = '']: [string, string?]) =>
      violationOf(port, first, then, limitMs);
  return (
    await Promise.all([...HEADERS.map(send(HEADERS_MS)), ...(withBodies ? BODIES.map(send(REQUEST_MS)) : [])])
  ).flat();
}

function violationOf(port: number, first: string, then: string, limitMs: number): Promise<string[]> {
  return new Promise((settle) => {
    let received = '';
    const socket = connect({ port, host: '127.0.0.1' });
    const dribble = setInterval(() => socket.write(then), 1_000);
    const finish = (problem?: string) => {
      clearInterval(dribble);
      clearTimeout(timer);
      socket.destroy();
      settle(problem === undefined ? [] : [`slow sender of ${JSON.stringify(first)}: ${problem}`]);
    };
    const timer = setTimeout(() => finish(`open after ${limitMs + SLACK_MS} ms`), limitMs + SLACK_MS);
    socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (received.startsWith('HTTP/1.1 408')) finish();
      else finish(`closed with ${JSON.stringify(received.slice(0, 200))}`);
    });
    socket.write(first);
  });
}
