/** A request as parts that mutations change, and as the bytes on the socket. */
import { bytesOf, copyOf, type Tree } from './json-tree.js';

export interface FuzzRequest {
  method: string;
  /** Path and query, as written. */
  target: string;
  headers: [name: string, value: string][];
  body?: Tree | Buffer;
  /** A mutation has written Content-Length or Transfer-Encoding: the server may wait for more bytes, or see another request. */
  isFramed?: boolean;
  /** Replaces the bytes of the parts above, for changes within them. */
  bytes?: Buffer;
}

export function copyRequest({ headers, body, ...rest }: FuzzRequest): FuzzRequest {
  return {
    ...rest,
    headers: headers.map(([name, value]) => [name, value]),
    ...(body === undefined ? {} : { body: Buffer.isBuffer(body) ? body : copyOf(body) }),
  };
}

export function bodyOf({ body }: FuzzRequest): Buffer | undefined {
  return body === undefined || Buffer.isBuffer(body) ? body : bytesOf(body);
}

/** The bytes to send. Each request has a connection of its own, which the server is asked to close. */
export function encode(request: FuzzRequest): Buffer {
  if (request.bytes) return request.bytes;
  const { method, target, headers, isFramed = false } = request;
  const body = bodyOf(request);
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined || isFramed ? [] : [`content-length: ${body.length}`]),
  ];
  // Values have code points up to 255, one byte each.
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return body === undefined ? head : Buffer.concat([head, body]);
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const PRINTABLE = /^[\t\x20-\x7e]*$/;
const LONGEST_PRINTED = 20_000;

/** A command that repeats the request: curl if it can send it, else the bytes in base64 through Node.js. */
export function asCommand(request: FuzzRequest, port: number): string {
  const body = bodyOf(request)?.toString('latin1') ?? '';
  const { method, target, headers } = request;
  const texts = [method, target, body, ...headers.flat()];
  const isPlain = request.bytes === undefined && !request.isFramed;
  if (isPlain && texts.every((text) => PRINTABLE.test(text) && text.length < LONGEST_PRINTED))
    return [
      `curl -i --path-as-is -X ${quoted(method)}`,
      ...headers
        .filter(([name]) => name.toLowerCase() !== 'connection')
        .map(([name, value]) => `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`),
      ...(body === '' ? [] : [`--data-binary ${quoted(body)}`]),
      quoted(`http://127.0.0.1:${port}${target}`),
    ].join(' ');
  const base64 = encode(request).toString('base64');
  return `node -e "const s=require('net').connect(${port},'127.0.0.1');s.pipe(process.stdout);s.write(Buffer.from('${base64}','base64'))"`;
}
