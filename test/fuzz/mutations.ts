/** Mutations of a request. Each takes its choices from a seed of its own, so that a failing case can be shrunk by leaving some out. */
import { badText, badTree, NAMES, tamperedText } from './values.js';
import { placesIn, treeOf, type Place, type Tree } from './json-tree.js';
import { Random } from '../support/random.js';
import { bodyOf, encode, type FuzzRequest } from './request.js';

export interface MutationContext {
  /** Values that the server has made: tokens, sealed IDs, cursors. */
  harvest: readonly string[];
  /** Another valid request of the protocol, to splice in. */
  other: (random: Random) => FuzzRequest;
}

type Mutation = (random: Random, request: FuzzRequest, context: MutationContext) => void;

export function mutate(seed: number, request: FuzzRequest, context: MutationContext): void {
  const random = new Random(seed);
  const hasTree = request.body !== undefined && !Buffer.isBuffer(request.body);
  const kind = random.weighted<Mutation>([
    [hasTree ? 12 : 0, mutateField],
    [hasTree ? 2 : 0, mutateShape],
    [5, mutateHeader],
    [hasTree ? 1 : 5, mutateTarget],
    [0.5, mutateMethod],
    [1, mutateBytes],
  ]);
  kind(random, request, context);
}

/** The same for a line over stdio: only the message, and its bytes. */
export function mutateLine(seed: number, request: FuzzRequest, context: MutationContext): void {
  const random = new Random(seed);
  const body = bodyOf(request)!;
  if (Buffer.isBuffer(request.body) || random.chance(0.1))
    request.body = changedBytes(random, body, bodyOf(context.other(random)) ?? body);
  else (random.chance(0.85) ? mutateField : mutateShape)(random, request, context);
}

/** A string may be a sealed value: that of another kind, or one that has been tampered with, takes its place. */
function otherText(random: Random, text: string, { harvest }: MutationContext): string {
  return random.weighted<() => string>([
    [2, () => tamperedText(random, text)],
    [2, () => random.pick(harvest.length ? harvest : [''])],
    [3, () => badText(random)],
  ])();
}

function placesOf(request: FuzzRequest): Place[] {
  return placesIn(request.body as Tree, (tree) => (request.body = tree));
}

const mutateField: Mutation = (random, request, context) => {
  const places = placesOf(request);
  // The envelope's fields come first; what the method itself takes is within.
  const inner = places.filter(({ depth, path }) => depth > 1 && !path.includes('_meta'));
  const place = random.pick(inner.length && random.chance(0.6) ? inner : places);
  const { tree } = place;
  random.weighted<() => void>([
    [3, () => place.remove?.()],
    [2, () => place.replace({ kind: 'verbatim', text: 'null' })],
    [6, () => place.replace(badTree(random))],
    [
      tree.kind === 'string' ? 6 : 0,
      () => tree.kind === 'string' && (tree.value = otherText(random, tree.value, context)),
    ],
    [1, () => place.replace({ kind: 'array', items: [tree] })],
    [1, () => place.replace({ kind: 'object', members: [[random.pick(['0', ...NAMES]), tree]] })],
  ])();
};

/** Keys: repeated, in another case, of prototypes, more than expected. */
const mutateShape: Mutation = (random, request, context) => {
  const objects = placesOf(request).filter(({ tree }) => tree.kind === 'object');
  const place = random.pick(objects);
  if (place?.tree.kind !== 'object') return;
  const { members } = place.tree;
  const member = members.length ? random.pick(members) : undefined;
  random.weighted<() => void>([
    [1, () => member && members.push([member[0], badTree(random)])],
    [1, () => member && members.unshift([member[0], badTree(random)])],
    [1, () => member && (member[0] = member[0].toUpperCase())],
    [1, () => member && (member[0] = random.pick(NAMES))],
    [2, () => void members.push([random.pick(NAMES), badTree(random)])],
    [1, () => void members.push([badText(random).slice(0, 2_000), badTree(random)])],
    // Fields of other methods: a call that is also a task, an operation, a job.
    [2, () => void members.push(random.pick(fieldsOf(context.other(random))))],
  ])();
};

function fieldsOf({ body }: FuzzRequest): [string, Tree][] {
  if (body === undefined || Buffer.isBuffer(body)) return [['more', treeOf(1)]];
  const objects = placesIn(body, () => undefined).flatMap(({ tree }) =>
    tree.kind === 'object' && tree.members.length ? [tree.members] : [],
  );
  return objects.length ? objects.flat() : [['more', treeOf(1)]];
}

const HEADERS: Record<string, readonly string[]> = {
  'mcp-protocol-version': ['2026-07-28', '2025-11-25', '2025-03-26', '2024-11-05', '1999-01-01', '2026-7-28'],
  'mcp-session-id': [],
  'mcp-method': [
    'tools/call',
    'tasks/get',
    'subscriptions/listen',
    'server/discover',
    'initialize',
    'TOOLS/CALL',
  ],
  'mcp-name': ['greet', 'slow_compute', '=?base64?Z3JlZXQ=?=', '=?base64?!?=', '=?', 'a b'],
  accept: ['*/*', 'application/json', 'text/event-stream', 'text/html', 'application/json;q=0', ';;,,'],
  'content-type': [
    ...['text/plain', 'application/json; charset=utf-16', 'application/json;', 'APPLICATION/JSON', 'json'],
    ...[
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=a',
      'application/json, text/plain',
    ],
  ],
  'content-encoding': ['gzip', 'br', 'identity'],
  'content-length': ['0', '1', '-1', '5000000', '99999999999999999999', '1e3', '0x10', '7, 7'],
  'transfer-encoding': ['chunked', 'gzip, chunked', 'identity', 'chunked, chunked', 'x'],
  expect: ['100-continue', '200-maybe'],
  host: [
    '',
    'example.com',
    '127.0.0.1:1',
    '127.0.0.1, a',
    '[::1]',
    'localhost',
    'a@127.0.0.1',
    '127.0.0.1:99999',
  ],
  origin: ['null', 'http://example.com', 'http://127.0.0.1', 'a', 'http://', 'http://[::1'],
  'idempotency-key': ['k', '"k"', '""', '"', 'k'.repeat(256), '"\\', 'a b', '\xe9'],
  'last-event-id': ['0', '-1', '999999999999999999999', 'AAAA'],
  prefer: ['respond-async', 'wait=0', 'wait=-1', 'wait=1e3', 'wait="', 'a;b;;c=', 'wait=0, wait=1', ',,'],
  range: [
    'bytes=0-0',
    'bytes=-1',
    'bytes=5-1',
    'bytes=-',
    'bytes=0-1,3-4',
    'bytes=99999999999999999-',
    'lines=1-2',
  ],
  'if-range': ['"a"', 'W/"a"', 'Tue, 24 Nov 2026 00:00:00 GMT'],
  'if-none-match': ['*', '"a"', 'W/"a", "b"', '"'],
  'longhaul-session': ['s', '', 's'.repeat(201), '\xe9'],
  authorization: ['Bearer x', 'Basic YTpi', 'Bearer', 'bearer  a b', ''],
  connection: ['keep-alive', 'upgrade', 'close, x', 'mcp-session-id'],
  upgrade: ['h2c', 'websocket'],
  'x-forwarded-for': ['1.2.3.4', 'a', '::1, ::2'],
  'x-forwarded-proto': ['https', 'javascript'],
  'x-http-method-override': ['DELETE'],
  forwarded: ['for=1.2.3.4;host=a', '"'],
  traceparent: ['00-0-0-00', '00-ffffffffffffffffffffffffffffffff-ffffffffffffffff-01'],
};
const FRAMING = new Set(['content-length', 'transfer-encoding', 'expect', 'connection', 'upgrade']);

/** A header's value as one byte a character; line ends would only add headers. */
const asHeaderValue = (text: string) =>
  Buffer.from(text.slice(0, 20_000))
    .toString('latin1')
    .replaceAll(/[\r\n]/g, ' ');

const mutateHeader: Mutation = (random, request, context) => {
  const { headers } = request;
  const present = headers.length && random.chance(0.6) ? random.pick(headers) : undefined;
  const name = present?.[0] ?? random.pick(Object.keys(HEADERS));
  if (FRAMING.has(name.toLowerCase())) request.isFramed = true;
  const value = () =>
    random.weighted<() => string>([
      [4, () => random.pick(HEADERS[name.toLowerCase()] ?? [])],
      [3, () => otherText(random, present?.[1] ?? '', context)],
    ])() ?? otherText(random, present?.[1] ?? '', context);
  random.weighted<() => void>([
    [present ? 2 : 0, () => void headers.splice(headers.indexOf(present!), 1)],
    [present ? 5 : 0, () => void (present![1] = asHeaderValue(value()))],
    [present ? 1 : 6, () => void headers.push([name, asHeaderValue(value())])],
    [present ? 1 : 0, () => void headers.unshift([name, present![1]])],
    [
      present ? 0.5 : 0,
      () => void (present![0] = random.pick([name.toUpperCase(), `${name} `, `x-${name}`])),
    ],
    [0.2, () => void headers.push([random.pick(['x', 'a b', 'ü', ...NAMES]), asHeaderValue(value())])],
    [0.2, () => void headers.push(['x-long', 'x'.repeat(random.pick([8_000, 16_000, 17_000, 70_000]))])],
    [0.1, () => Array.from({ length: 1_500 }, (_, index) => headers.push([`x-${index}`, '1']))],
  ])();
};

const SEGMENTS = [
  '..',
  '.',
  '',
  '%2e%2e',
  '%2F',
  '%00',
  '%',
  '%zz',
  '%ff',
  '%c3%28',
  'a%3acancel',
  ':cancel',
  '*',
  '__proto__',
];

const mutateTarget: Mutation = (random, request, context) => {
  const [path = '', query] = request.target.split(/\?(.*)/s);
  const segments = path.split('/');
  const at = random.below(segments.length);
  const parameters = (query ?? '').split('&').filter(Boolean);
  const withQuery = (changed: string[]) => `${path}${changed.length ? `?${changed.join('&')}` : ''}`;
  const withSegment = (...changed: string[]) => {
    const copy = [...segments];
    copy.splice(at, 1, ...changed);
    return [copy.join('/'), ...(query === undefined ? [] : [query])].join('?');
  };
  const escaped = (text: string) =>
    encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '?')).slice(0, 20_000);
  request.target = random.weighted<() => string>([
    [3, () => withSegment(escaped(otherText(random, segments[at]!, context)))],
    [3, () => withSegment(random.pick(SEGMENTS))],
    [1, () => withSegment(segments[at]!, random.pick(SEGMENTS))],
    [1, () => path + random.pick(['/', '//', ';a=b', '%20', '.json', ':delete', ':cancel', ':'])],
    [1, () => random.pick(['*', '//', '/', `http://127.0.0.1${path}`, `//a/${path}`, 'mcp', '?', '/mcp#a'])],
    [1, () => path.replaceAll(/[a-z]/g, (letter) => (random.chance(0.3) ? letter.toUpperCase() : letter))],
    [
      1,
      () =>
        path.replaceAll(/[a-z]/g, (letter) =>
          random.chance(0.3) ? `%${letter.charCodeAt(0).toString(16)}` : letter,
        ),
    ],
    [
      2,
      () =>
        withQuery([
          ...parameters,
          `${random.pick(['limit', 'cursor', 'wait', 'x', ...NAMES])}=${escaped(badText(random))}`,
        ]),
    ],
    [
      parameters.length ? 4 : 0,
      () => {
        const index = random.below(parameters.length);
        const [key = '', value = ''] = parameters[index]!.split('=');
        const text = otherText(random, decoded(value), context);
        return withQuery(parameters.toSpliced(index, random.below(2), `${key}=${escaped(text)}`));
      },
    ],
    [parameters.length ? 1 : 0, () => withQuery([...parameters, random.pick(parameters)])],
  ])();
  // A line end or a space in the target would make it another request line.
  request.target = request.target.replaceAll(/[^\x21-\xff]/g, '') || '/';
};

/** An earlier mutation may have left an escape that can't be decoded. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

const METHODS = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'QUERY',
  'PROPFIND',
  'get',
  'FOO',
];

const mutateMethod: Mutation = (random, request) => {
  request.method = random.pick(METHODS);
};

/** Changes in the bytes themselves; later mutations of the same case have no effect. */
const mutateBytes: Mutation = (random, request, context) => {
  request.bytes = changedBytes(random, encode(request), encode(context.other(random)));
};

/** Bits flipped, cut, without a part, spliced with another, two of them in one write, with other bytes within. */
function changedBytes(random: Random, original: Buffer, other: Buffer): Buffer {
  const bytes = Buffer.from(original);
  const at = random.below(bytes.length);
  return random.weighted<() => Buffer>([
    [4, () => flippedBits(random, bytes)],
    [2, () => bytes.subarray(0, at)],
    [1, () => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random.below(20))])],
    [2, () => Buffer.concat([bytes.subarray(0, at), other.subarray(random.below(other.length))])],
    // The second is read once the first has been answered.
    [1, () => Buffer.concat([bytes, other])],
    [1, () => Buffer.concat([bytes.subarray(0, at), Buffer.from([0, 0xff, 0x0d, 0x0a]), bytes.subarray(at)])],
  ])();
}

function flippedBits(random: Random, bytes: Buffer): Buffer {
  for (let flips = 1 + random.below(4); flips > 0 && bytes.length > 0; flips -= 1)
    bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
  return bytes;
}
