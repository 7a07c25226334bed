/** Sends bytes over a connection of their own, and reads what comes back as HTTP/1.1 responses. */
import { connect } from 'node:net';

export interface RawResponse {
  status: number;
  headers: Map<string, string>;
  body: Buffer;
  /** All of it has arrived. */
  isComplete: boolean;
}

export interface Exchange {
  responses: RawResponse[];
  /** This client ended it: `patienceMs` had passed. */
  isCut: boolean;
  /** Bytes that aren't a response. */
  garbage?: string;
  tookMs: number;
}

export interface ExchangeOptions {
  /** How long an answer may take, in milliseconds; event streams are cut then. */
  patienceMs: number;
  /** The same once an event stream has begun. Default: `patienceMs` */
  streamPatienceMs?: number;
  /** Ends the sending side after the bytes, so that the server doesn't wait for more. Default: false */
  isHalfClosed?: boolean;
}

/** Methods whose responses have no body. */
const hasNoBody = (bytes: Buffer) => bytes.subarray(0, 5).toString('latin1') === 'HEAD ';

export function exchange(port: number, bytes: Buffer, options: ExchangeOptions): Promise<Exchange> {
  const { patienceMs, streamPatienceMs = patienceMs, isHalfClosed = false } = options;
  return new Promise((settle) => {
    const from = performance.now();
    const received: Buffer[] = [];
    const isHead = hasNoBody(bytes);
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let timer = setTimeout(() => finish(true), patienceMs);
    let isStream = false;
    let isOver = false;
    const finish = (isCut: boolean) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      socket.destroy();
      settle({ ...parse(Buffer.concat(received), isHead), isCut, tookMs: performance.now() - from });
    };
    socket.on('data', (chunk) => {
      received.push(chunk);
      if (isStream || received.length > 8) return;
      isStream = /^content-type: text\/event-stream/im.test(Buffer.concat(received).toString('latin1'));
      if (!isStream) return;
      clearTimeout(timer);
      timer = setTimeout(() => finish(true), streamPatienceMs);
    });
    // A connection reset after the answer is no error of the server: it hadn't read everything.
    socket.on('error', () => finish(false));
    socket.on('end', () => finish(false));
    socket.on('close', () => finish(false));
    socket.write(bytes);
    if (isHalfClosed) socket.end();
  });
}

function parse(bytes: Buffer, isHead: boolean): Pick<Exchange, 'responses' | 'garbage'> {
  const responses: RawResponse[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const headEnd = rest.indexOf('\r\n\r\n');
    const [first = '', ...lines] = rest.subarray(0, Math.max(headEnd, 0)).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})( |$)/.exec(first)?.[1]);
    if (headEnd < 0 || !status) return { responses, garbage: rest.subarray(0, 500).toString('latin1') };
    const headers = new Map(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    );
    rest = rest.subarray(headEnd + 4);
    if (status < 200) continue;
    // A request that can't be parsed is answered with a body, whatever its method.
    const isEmpty =
      (isHead && (rest.length === 0 || rest.subarray(0, 5).toString() === 'HTTP/')) ||
      status === 204 ||
      status === 304;
    const { body, used, isComplete } = isEmpty
      ? { body: Buffer.alloc(0), used: 0, isComplete: true }
      : bodyIn(rest, headers);
    responses.push({ status, headers, body, isComplete });
    if (!isComplete) break;
    rest = rest.subarray(used);
  }
  return { responses };
}

interface ReadBody {
  body: Buffer;
  used: number;
  isComplete: boolean;
}

function bodyIn(rest: Buffer, headers: Map<string, string>): ReadBody {
  if (/chunked/i.test(headers.get('transfer-encoding') ?? '')) return chunkedIn(rest);
  const length = headers.get('content-length');
  // Without a length the body ends with the connection.
  if (length === undefined) return { body: rest, used: rest.length, isComplete: true };
  const used = Math.min(Number(length), rest.length);
  return { body: rest.subarray(0, used), used, isComplete: used === Number(length) };
}

function chunkedIn(rest: Buffer): ReadBody {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = rest.indexOf('\r\n', at);
    const size = parseInt(rest.subarray(at, Math.max(lineEnd, at)).toString('latin1'), 16);
    const from = lineEnd + 2;
    if (lineEnd < 0 || Number.isNaN(size) || rest.length < from + size + 2)
      return { body: Buffer.concat(chunks), used: rest.length, isComplete: false };
    if (size === 0) return { body: Buffer.concat(chunks), used: from + 2, isComplete: true };
    chunks.push(rest.subarray(from, from + size));
    at = from + size + 2;
  }
}
