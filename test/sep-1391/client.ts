/** A client of SEP-1391, written from the document alone, over connections of MCP. */
import type { ChildProcess } from 'node:child_process';
import { LegacyClient, type Stream } from '../revision-2025-11-25/wire.js';
import { eventually } from '../support/eventually.js';
import { WireClient } from '../support/mcp.js';

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
  async until(token: string, wanted: string[] = isOver): Promise<any> {
    let last: Answer | undefined;
    return eventually(
      () => `it is ${wanted.join(' or ')}; last seen: ${JSON.stringify(last)}`,
      async () => {
        last = await this.status(token);
        return wanted.includes(last.result?.status) ? last.result : undefined;
      },
    );
  }
}

/** A session of an older revision over HTTP. */
export async function connectSession(
  url: string,
  capabilities: object = OPTED_IN,
  protocolVersion = '2025-06-18',
): Promise<Wire & { id: string; initialized: any; listen(): Promise<() => void>; at(url: string): void }> {
  const client = await LegacyClient.open(url, protocolVersion, capabilities, clientInfo.name);
  const streams: Stream[] = [];
  return {
    initialized: client.initialized,
    get id() {
      return client.session;
    },
    set id(session: string) {
      client.session = session;
    },
    get messages() {
      return streams.flatMap((stream) => stream.messages());
    },
    request: (method, params) => client.request(method, params),
    at: (other) => void (client.url = other),
    notify: async (method, params) => (await client.post({ jsonrpc: '2.0', method, params })).status,
    async respond(id, result) {
      const response = await client.respond(id, result);
      const text = await response.text();
      return { status: response.status, ...(text ? { error: JSON.parse(text).error } : {}) };
    },
    /** Opens the session's own stream. */
    async listen() {
      const stream = await client.listen();
      streams.push(stream);
      return () => stream.close();
    },
    close: async () => streams.forEach((stream) => stream.close()),
  };
}

/** 2026-07-28 over HTTP, without a session. */
export function connectStateless(url: string, capabilities: object = OPTED_IN): Wire {
  const client = new WireClient(url, capabilities, clientInfo.name);
  return {
    messages: [],
    async request(method, params: any = {}) {
      const named: Record<string, string> = params.request ? { 'mcp-name': params.request.name } : {};
      const { notifications, ...answer } = await client.request(method, params, named);
      return { ...answer, before: notifications } as unknown as Answer;
    },
    async notify(method, params) {
      const body = JSON.stringify({ jsonrpc: '2.0', method, params });
      return (await client.post(body, client.headers(method))).status;
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
): Promise<Wire & { initialized?: Answer; received: any[] }> {
  let lastId = 0;
  let rest = '';
  const messages: any[] = [];
  /** All messages, answers among them. */
  const received: any[] = [];
  const waiting = new Map<number, (answer: any) => void>();
  child.stdout!.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const message of lines.map((line) => JSON.parse(line))) {
      received.push(message);
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
    received,
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
