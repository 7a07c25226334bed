/**
 * Commands that show texts of others, against a server, files and arguments that try to control the terminal. A lint rule keeps all
 * commands to cli/console.ts, which escapes.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { escapeControls, escapeStyled, jsonText } from '../../cli/terminal/terminal-text.js';
import { PARTS_META_KEY, STATUS_META_KEY } from '../../operations/wire/meta-keys.js';
import { PROCESSES_MS } from '../support/limits.js';
import type { TestStack } from '../support/test-stack.js';
import { documents, KEYS, run, Terminal } from './commands.js';

jest.setTimeout(PROCESSES_MS);

/** A title, a cleared screen, a bell, a C1 sequence, reversed text, separators, and a line that looks like a prompt. */
const HOSTILE =
  'a\u001b]0;owned\u0007\u001b[2J\u009b5m\u0085\u202eb\u2066\u2069\u200e\u200f\u061c\u2028\u2029\b\u007fc\r$ ';

/** Characters that a command never writes to a file or a pipe. */
const RAW = /(?![\t\n])[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
/** Parts of {@link HOSTILE} that a command, which draws, never writes to a terminal. */
const ESCAPE = '\u001b';
const OWNED = new RegExp(
  `${ESCAPE}(\\]|\\[2J)|(?![\\t\\n\\r${ESCAPE}])[\\p{Cc}\\u061c\\u200e\\u200f\\u2028\\u2029\\u202e\\u2066\\u2069]`,
  'u',
);

const at = new Date(0).toISOString();
const SCHEMA = {
  type: 'object',
  properties: {
    choice: { type: 'string', enum: [HOSTILE, 'b'], description: HOSTILE, default: HOSTILE },
    [HOSTILE]: { type: 'string', description: HOSTILE },
  },
};
const QUESTION = { method: 'elicitation/create', params: { message: HOSTILE, requestedSchema: SCHEMA } };
const CONTENT = [
  { type: 'text', text: HOSTILE },
  { type: 'resource_link', name: HOSTILE, uri: `file:///${HOSTILE}`, mimeType: HOSTILE },
];

const RESULT = { content: CONTENT };
/** Tasks by their tokens; any other has completed. */
const TASKS: Record<string, object> = {
  open: { status: 'working' },
  asking: { status: 'input_required', inputRequests: { [HOSTILE]: QUESTION } },
  failed: { status: 'completed', result: { ...RESULT, isError: true } },
  canceled: { status: 'cancelled' },
};
const taskOf = (taskId: string): object => ({
  ...{ taskId, statusMessage: HOSTILE, createdAt: at, lastUpdatedAt: at, ttlMs: null },
  _meta: { 'longhaul/progress': { stage: HOSTILE } },
  ...(TASKS[taskId] ?? { status: 'completed', result: RESULT }),
});

const CHILD = {
  name: HOSTILE,
  status: 'failed',
  status_message: HOSTILE,
  host: HOSTILE,
  steps: [{ name: HOSTILE, status: 'failed', exit_code: 1, started_at: at, closed_at: at }],
  artifacts: [{ name: HOSTILE, uri: HOSTILE, mime_type: HOSTILE, bytes: 1 }],
};
const OPERATION = { token: 'open', owner: HOSTILE, tool: HOSTILE, stage: HOSTILE, created_at: at };
const LOG = {
  step: HOSTILE,
  name: HOSTILE,
  lines: [{ number: 1, text: HOSTILE }],
  is_at_end: true,
  is_complete: true,
  total_bytes: 1,
};

/** The result of a call of a built-in tool; a task of any other. */
function callOf(name: string, { view }: { view?: string }): object {
  const meta = { [STATUS_META_KEY]: 'working', [PARTS_META_KEY]: [{ status: 'failed', steps: ['failed'] }] };
  const operation = view === 'logs' ? { log: LOG } : { ...OPERATION, children: [CHILD], is_live: true };
  switch (name) {
    case 'operation_list':
      return {
        content: [],
        structuredContent: { operations: [OPERATION] },
        _meta: { [STATUS_META_KEY]: ['working'] },
      };
    case 'operation_get':
      return { content: [], structuredContent: operation, _meta: meta };
    case 'check_status':
    case 'check_inbox':
    case 'send_message':
      return { content: [{ type: 'text', text: JSON.stringify(mail()) }] };
    default:
      return { ...taskOf('done'), resultType: 'task' };
  }
}

const mail = () => ({
  id: HOSTILE,
  bye: HOSTILE,
  refused: { [HOSTILE]: HOSTILE },
  r: { [HOSTILE]: HOSTILE },
  offers: 1,
  agents: [
    { name: HOSTILE, type: HOSTILE, capabilities: [HOSTILE], state: HOSTILE, queued: 1, dead: 1, seen: at },
  ],
  messages: [
    { id: HOSTILE, from: HOSTILE, mode: HOSTILE, m: HOSTILE, ctx: { HOSTILE }, sent: at, state: HOSTILE },
  ],
});

interface Call {
  id: number;
  method: string;
  params: { taskId?: string; name?: string; arguments?: object };
}

async function answerRpc(request: IncomingMessage): Promise<object> {
  const { id, method, params } = (await json(request)) as Call;
  const result =
    params.taskId === 'error'
      ? undefined
      : {
          'tools/list': {
            tools: [{ name: 'evil', title: HOSTILE, description: HOSTILE, inputSchema: SCHEMA }],
            _meta: { 'longhaul/problems': [HOSTILE] },
          },
          'tasks/get': taskOf(params.taskId ?? ''),
          'tasks/cancel': {},
          'tasks/update': {},
          'tools/call': callOf(params.name ?? '', params.arguments ?? {}),
        }[method];
  return {
    jsonrpc: '2.0',
    id,
    ...(result ? { result } : { error: { code: -32603, message: HOSTILE, data: { kind: HOSTILE } } }),
  };
}

function answerHttp(path: string): [type: string, body: string] {
  if (path.endsWith('/artifacts'))
    return [
      'application/json',
      JSON.stringify({ artifacts: [{ name: HOSTILE, bytes: 1, content_type: HOSTILE }] }),
    ];
  if (path.includes('/artifacts/')) return ['application/octet-stream', HOSTILE];
  if (path.endsWith('/partial')) return ['application/json', JSON.stringify({ said: HOSTILE })];
  return ['text/markdown', HOSTILE];
}

const server = createServer((request, response) => {
  void (async () => {
    const isRpc = request.method === 'POST';
    const [type, body] = isRpc
      ? ['application/json', JSON.stringify(await answerRpc(request))]
      : answerHttp(request.url ?? '');
    response.setHeader('content-type', type).end(body);
  })();
});

let parts: TestStack;
const folder = mkdtempSync(join(tmpdir(), 'hostile-'));
let environment: Record<string, string>;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  // The helpers of this folder need no more of a stack.
  parts = { port } as TestStack;
  environment = {
    LONGHAUL_HOME: join(folder, `home ${HOSTILE}`),
    LONGHAUL_URL: `http://127.0.0.1:${port}/mcp`,
    TEMPORAL_ADDRESS: '127.0.0.1:9',
  };
  for (const [name, content] of Object.entries(FILES)) writeFileSync(join(folder, name), content);
});
afterAll(() => void server.close());

const FILES = {
  [`${HOSTILE}.yml`]: `${HOSTILE.replace(/[\r\n]/g, '')}: 1\njobs: { "${'\\e[2J'}": { steps: [] } }\n`,
  [`${HOSTILE}.json`]: JSON.stringify({ events: HOSTILE }),
};
const path = (end: string) => join(folder, `${HOSTILE}${end}`);

const LINES: Record<string, () => string[][]> = {
  check: () => [[path('.yml')], [path('.yml'), '--json'], [path('.json')], [path('.ts')]],
  tools: () => [[`--${HOSTILE}`], [], ['--json'], ['evil'], ['--estimates']],
  call: () => [
    ['evil', '--help'],
    ['evil', '--nothing'],
    ['evil', '--choice', HOSTILE],
    ['evil', '--choice', 'x'],
    ['evil', '--json'],
    [HOSTILE],
    ['evil', '--args', path('.json')],
  ],
  watch: () => [['done'], ['failed'], ['canceled'], ['error'], ['done', 'failed', 'error']],
  status: () => [['open'], ['asking'], ['failed'], ['error'], ['open', '--json']],
  result: () => [['done'], ['failed'], ['open'], ['error'], ['done', '--partial'], ['done', '--json']],
  get: () => [['done'], ['done', '--json'], ['done', HOSTILE, '-o', path('.out')]],
  logs: () => [['open'], ['open', '--json'], ['open', '--numbers']],
  answer: () => [
    ['asking'],
    ['asking', HOSTILE],
    ['asking', '--field', `${HOSTILE}=1`],
    ['asking', '--decline'],
  ],
  cancel: () => [['open'], ['done'], ['error']],
  resume: () => [['failed'], ['error']],
  list: () => [[], ['--json'], ['--status', HOSTILE]],
  top: () => [['--interval', '1']],
  doctor: () => [[], ['--json']],
  policy: () => [['test', HOSTILE, '--policy', path('.yml')]],
  agents: () => [[], ['--json']],
  send: () => [
    [HOSTILE, '--to', HOSTILE],
    [HOSTILE, '--to', HOSTILE, '--context', HOSTILE],
  ],
  inbox: () => [[HOSTILE], [HOSTILE, '--json'], [HOSTILE, '--dead']],
};

/** Results and logs that go to a file or a pipe stay as they are. */
const EXACT = new Set(['call', 'watch', 'result', 'logs', 'resume']);

test.each(Object.keys(LINES))('%s writes no control character of others to a pipe', async (name) => {
  const isShort = (words: string[]) => words.includes('--json') || words.includes('--help');
  for (const words of LINES[name]!()) {
    const { stdout, stderr } = await run(parts, [name, ...words], { environment });
    const isExact = EXACT.has(name) && !isShort(words);
    expect({ words, shown: isExact ? stderr : stdout + stderr }).toEqual({
      words,
      shown: expect.not.stringMatching(RAW),
    });
  }
});

/** Keys for commands that wait for some. */
const TYPED: Record<string, (terminal: Terminal) => Promise<void>> = {
  async answer(terminal) {
    await terminal.at('● Answer', KEYS.enter);
    await terminal.at('● a', KEYS.down, KEYS.enter);
    await terminal.at('◆', 'text', KEYS.enter);
  },
  async top(terminal) {
    await terminal.at('1 open', 'o');
    await terminal.at('log of', 'c');
    await terminal.at('y/n', 'n', 'q');
  },
};

// These write something else to a terminal than to a pipe.
test.each([...EXACT, 'tools', 'status', 'answer', 'list', 'top', 'get', 'agents', 'inbox'])(
  '%s writes none of them to a terminal',
  async (name) => {
    const lines = TYPED[name] ? LINES[name]!().slice(0, 1) : LINES[name]!();
    for (const words of lines) {
      const terminal = new Terminal(parts, [name, ...words], { environment });
      await TYPED[name]?.(terminal);
      await terminal.ended;
      expect({ words, shown: terminal.raw }).toEqual({ words, shown: expect.not.stringMatching(OWNED) });
    }
  },
);

test('data that goes to a file or a pipe is unchanged', async () => {
  const { stdout: result } = await run(parts, ['result', 'done'], { environment });
  expect(result.startsWith(`${HOSTILE}\n`)).toBe(true);
  const { stdout: file } = await run(parts, ['get', 'done', 'file'], { environment });
  expect(file).toBe(HOSTILE);
  const { stdout: log } = await run(parts, ['logs', 'open'], { environment });
  expect(log).toBe(`${HOSTILE}\n`);
});

test('JSON has the same value', async () => {
  const [task] = documents<{ statusMessage: string }>(
    await run(parts, ['status', 'canceled', '--json'], { environment }),
  );
  expect(task!.statusMessage).toBe(HOSTILE);
  expect(JSON.parse(jsonText({ [HOSTILE]: HOSTILE }))).toEqual({ [HOSTILE]: HOSTILE });
  expect(jsonText(HOSTILE)).not.toMatch(RAW);
});

test('escaped text stays the same when it is escaped again, and logs keep their colors', () => {
  const escaped = escapeControls(HOSTILE);
  expect(escaped).not.toMatch(RAW);
  expect(escapeControls(escaped)).toBe(escaped);
  expect(escapeControls('a\u202eb\u001b[31m\u0085\r\n')).toBe('a<U+202E>b␛[31m<U+0085>\n');
  expect(escapeStyled('\u001b[31mred\u001b[0m\u001b[2J')).toBe('\u001b[31mred\u001b[0m␛[2J');
});
