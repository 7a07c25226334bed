/**
 * A client of SEP-1391, written from the document alone: JSON over HTTP and stdio. Below it are three minimal MCP
 * connections.
 */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Answer {
  result?: any;
  error?: { code: number; message: string; data?: any };
  /** Messages before the answer on the same stream. */
  before: any[];
  id: number;
}

/** An MCP connection. */
export interface Wire {
  request(method: string, params?: object, id?: number): Promise<Answer>;
  notify(method: string, params: object): Promise<number | undefined>;
  /** Answers a request of the server. */
  respond(id: string, result: object): Promise<{ status?: number; error?: any }>;
  /** Notifications and requests of the server. */
  messages: any[];
  close(): Promise<void>;
}

export const OPTED_IN = { experimental: { asyncTools: {} } };
export const WITH_FORMS = { ...OPTED_IN, elicitation: {} };

const clientInfo = { name: 'sep-1391-client', version: '1' };
const accept = 'application/json, text/event-stream';
const isOver = ['completed', 'canceled', 'failed', 'unknown'];

/** The methods of the document. */
export class AsyncClient {
  constructor(readonly wire: Wire) {}

  call(name: string, args: object, operation?: unknown, more: object = {}): Promise<Answer> {
    return this.wire.request('tools/call', {
      name,
      arguments: args,
      ...(operation === undefined ? {} : { operation }),
      ...more,
    });
  }

  status(token: string): Promise<Answer> {
    return this.wire.request('tools/async/status', { token });
  }

  result(token: string): Promise<Answer> {
    return this.wire.request('tools/async/result', { token });
  }

  /** Starts an operation; fails unless it was accepted. */
  async start(name: string, args: object, operation: object = {}): Promise<any> {
    const { result, error } = await this.call(name, args, operation);
    if (!result?.operation) throw new Error(JSON.stringify(error ?? result));
    return result.operation;
  }

  /** Polls until the status is as expected: the document's loop at a shorter interval. */
  async until(token: string, wanted: string[] = isOver, limitMs = 120_000): Promise<any> {
    const deadline = Date.now() + limitMs;
    for (;;) {
      const { result, error } = await this.status(token);
      if (wanted.includes(result?.status)) return result;
      if (Date.now() > deadline)
        throw new Error(`not ${wanted.join(', ')} in time: ${JSON.stringify(result ?? error)}`);
      await sleep(100);
    }
  }
}

/** A session of 2025-11-25 over HTTP. */
export async function connectSession(
  url: string,
  capabilities: object = OPTED_IN,
  protocolVersion = '2025-06-18',
): Promise<Wire & { id: string; initialized: any; listen(): Promise<() => void>; at(url: string): void }> {
  let base = url;
  let lastId = 0;
  const headers: Record<string, string> = { 'content-type': 'application/json', accept };
  const messages: any[] = [];
  const streams: AbortController[] = [];
  const post = (body: object) => fetch(base, { method: 'POST', headers, body: JSON.stringify(body) });
  const request = async (method: string, params: object = {}, id = ++lastId): Promise<Answer> => {
    const response = await post({ jsonrpc: '2.0', id, method, params });
    const session = response.headers.get('mcp-session-id');
    if (session !== null) headers['mcp-session-id'] = session;
    const all = await messagesOf(response);
    const answer = all.find((message) => message.id === id && !message.method) ?? all.at(-1);
    return { ...answer, id, before: all.filter((message) => message !== answer) };
  };
  const first = await request('initialize', { protocolVersion, capabilities, clientInfo });
  headers['mcp-protocol-version'] = protocolVersion;
  if (first.result) await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return {
    initialized: first,
    get id() {
      return headers['mcp-session-id']!;
    },
    set id(session: string) {
      headers['mcp-session-id'] = session;
    },
    messages,
    request,
    at: (other) => void (base = other),
    async notify(method, params) {
      const response = await post({ jsonrpc: '2.0', method, params });
      await response.text();
      return response.status;
    },
    async respond(id, result) {
      const response = await post({ jsonrpc: '2.0', id, result });
      const text = await response.text();
      return { status: response.status, ...(text ? { error: JSON.parse(text).error } : {}) };
    },
    /** Opens the session's own stream. */
    async listen() {
      const gone = new AbortController();
      streams.push(gone);
      const response = await fetch(base, {
        headers: { ...headers, accept: 'text/event-stream' },
        signal: gone.signal,
      });
      void readEvents(response, (message) => messages.push(message));
      return () => gone.abort();
    },
    close: async () => streams.forEach((stream) => stream.abort()),
  };
}

/** 2026-07-28 over HTTP, without a session. */
export function connectStateless(url: string, capabilities: object = OPTED_IN): Wire {
  let lastId = 0;
  const post = async (message: any) => {
    const { name, request, uri } = message.params;
    const named = name ?? request?.name ?? uri;
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': message.method,
        ...(named ? { 'mcp-name': named } : {}),
      },
      body: JSON.stringify(message),
    });
    return { response, all: await messagesOf(response) };
  };
  return {
    messages: [],
    async request(method, params = {}, id = ++lastId) {
      const { all } = await post({
        jsonrpc: '2.0',
        id,
        method,
        params: { ...params, _meta: metaOf(capabilities, params) },
      });
      return { ...all.at(-1), id, before: all.slice(0, -1) };
    },
    async notify(method, params) {
      const { response } = await post({ jsonrpc: '2.0', method, params });
      return response.status;
    },
    respond: () => Promise.reject(new Error('this revision has no requests of the server')),
    close: async () => undefined,
  };
}

/** stdio, in either revision. */
export async function connectStdio(
  child: ChildProcess,
  revision: 'legacy' | 'current',
  capabilities: object = OPTED_IN,
): Promise<Wire & { initialized?: Answer }> {
  let lastId = 0;
  let rest = '';
  const messages: any[] = [];
  const waiting = new Map<number, (answer: any) => void>();
  child.stdout!.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const message of lines.map((line) => JSON.parse(line))) {
      const settle = message.method ? undefined : waiting.get(message.id);
      if (settle) settle(message);
      else messages.push(message);
    }
  });
  const write = (message: object) =>
    void child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const request = (method: string, params: object = {}, id = ++lastId) =>
    new Promise<Answer>((resolve) => {
      waiting.set(id, (answer) => resolve({ ...answer, before: [] }));
      write({
        id,
        method,
        params: revision === 'legacy' ? params : { ...params, _meta: metaOf(capabilities, params) },
      });
    });
  let initialized: Answer | undefined;
  if (revision === 'legacy') {
    initialized = await request('initialize', { protocolVersion: '2025-06-18', capabilities, clientInfo });
    if (initialized.result) write({ method: 'notifications/initialized' });
  }
  return {
    ...(initialized ? { initialized } : {}),
    messages,
    request,
    async notify(method, params) {
      write({ method, params });
      return undefined;
    },
    async respond(id, result) {
      write({ id, result });
      return {};
    },
    async close() {
      child.stdin!.end();
    },
  };
}

function metaOf(capabilities: object, params: object): object {
  return {
    ...(params as { _meta?: object })._meta,
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': clientInfo,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
}

/** Messages of a response, which may be one JSON object or a stream. */
async function messagesOf(response: Response): Promise<any[]> {
  if (response.headers.get('content-type')?.includes('event-stream')) {
    const messages: any[] = [];
    await readEvents(response, (message) => messages.push(message));
    return messages;
  }
  const text = await response.text();
  return text ? [JSON.parse(text)] : [];
}

async function readEvents(response: Response, take: (message: any) => void): Promise<void> {
  let rest = '';
  try {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream() as any) as any) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (/^data: ./.test(line)) take(JSON.parse(line.slice(6)));
    }
  } catch {
    // Closed by either side.
  }
}
