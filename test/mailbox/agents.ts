/** Agents of the mailbox, over HTTP connections of the official clients. */
import { expect } from '@jest/globals';
import {
  Client as CurrentClient,
  StreamableHTTPClientTransport as CurrentHttp,
} from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';

export const MAILBOX = { LONGHAUL_MAILBOX: '1' };
/** Time-out of a wait that should end idle soon, in seconds. */
export const SOON = { timeout_seconds: 0.2 };
/** Time-out longer than any step of a test takes, in seconds. */
export const LONG = { timeout_seconds: 50 };

/** Time-out of the clients' requests, in milliseconds. */
const LIMIT_MS = 150_000;
const CLIENT_INFO = { name: 'longhaul-tests', version: '1' };

interface CallOptions {
  signal?: AbortSignal;
  onprogress?: (progress: { progress: number }) => void;
}

type CallTool = (
  params: { name: string; arguments: Record<string, unknown> },
  options: CallOptions,
) => Promise<CallToolResult>;

/** One agent. */
export class Agent {
  agentId = '';

  constructor(
    readonly name: string,
    private readonly connection: Connection,
  ) {}

  toolNames(): Promise<string[]> {
    return this.connection.toolNames();
  }

  /** Result of a call, also of a failed one. */
  result(name: string, args: object = {}, options: CallOptions = {}): Promise<CallToolResult> {
    return this.connection.callTool({ name, arguments: args as Record<string, unknown> }, options);
  }

  /** Text of a successful result: expects a single block and no structured content. */
  async text(name: string, args: object = {}, options: CallOptions = {}): Promise<string> {
    const { content, isError, structuredContent } = await this.result(name, args, options);
    const [block, ...more] = content;
    if (isError || block?.type !== 'text') throw new Error(JSON.stringify(content));
    expect(more).toEqual([]);
    expect(structuredContent).toBeUndefined();
    return block.text;
  }

  async call(name: string, args: object = {}, options: CallOptions = {}): Promise<any> {
    return JSON.parse(await this.text(name, args, options));
  }

  /** Registers under the connection's name, and keeps its ID. */
  async register(args: object = {}, options: CallOptions = {}): Promise<any> {
    const answer = await this.call(
      'register_and_wait',
      { agent_name: this.name, agent_type: 'test', ...SOON, ...args },
      options,
    );
    this.agentId = answer.agent_id;
    return answer;
  }

  wait(args: object = LONG, options: CallOptions = {}): Promise<any> {
    return this.call('wait', { agent_id: this.agentId, ...args }, options);
  }

  respond(response_to: string, response: string, args: object = SOON): Promise<any> {
    return this.call('respond_and_wait', { agent_id: this.agentId, response_to, response, ...args });
  }

  /** Expects a tool error. */
  async refused(name: string, args: object, kind: string, message: string | RegExp): Promise<void> {
    const { isError, content, _meta } = await this.result(name, args);
    const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
    expect(text).toMatch(message);
    expect(text).not.toContain('operation_');
    expect(isError).toBe(true);
    expect(_meta?.['longhaul/error']).toMatchObject({ kind });
  }
}

/** Connects an agent to its server. */
export type Connect = (name: string) => Promise<Agent>;

/** A connection of an official client. */
interface Connection {
  callTool: CallTool;
  toolNames: () => Promise<string[]>;
  close: () => Promise<void>;
}

const open: Connection[] = [];

function agentOf(name: string, connection: Connection): Agent {
  open.push(connection);
  return new Agent(name, connection);
}

/** An agent that speaks 2026-07-28. @param url MCP endpoint */
export async function currentAgent(name: string, url: string): Promise<Agent> {
  const client = new CurrentClient(CLIENT_INFO, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new CurrentHttp(new URL(url)));
  return agentOf(name, {
    callTool: (params, options) =>
      client.callTool(params, { timeout: LIMIT_MS, ...options }) as Promise<CallToolResult>,
    toolNames: async () => (await client.listTools()).tools.map(({ name: tool }) => tool),
    close: () => client.close(),
  });
}

/** An agent that speaks 2025-11-25. @param url MCP endpoint */
async function olderAgent(name: string, url: string): Promise<Agent> {
  const client = new LegacyClient(CLIENT_INFO, { capabilities: {} });
  const reconnectionOptions = {
    initialReconnectionDelay: 200,
    maxReconnectionDelay: 1_000,
    reconnectionDelayGrowFactor: 1.5,
    maxRetries: 60,
  };
  await client.connect(new OlderHttp(new URL(url), { reconnectionOptions }));
  return agentOf(name, {
    callTool: (params, options) =>
      client.callTool(params, CallToolResultSchema, {
        timeout: LIMIT_MS,
        ...options,
      }) as Promise<CallToolResult>,
    toolNames: async () => (await client.listTools()).tools.map(({ name: tool }) => tool),
    close: () => client.close(),
  });
}

/** Closes the connections of one test. */
export async function closeAgents(): Promise<void> {
  await Promise.all(open.splice(0).map((connection) => connection.close()));
}

/** Both revisions. @param url of the MCP endpoint, once it is known */
export function revisionsAt(url: () => string): [string, Connect][] {
  return [
    ['2026-07-28', (name) => currentAgent(name, url())],
    ['2025-11-25', (name) => olderAgent(name, url())],
  ];
}
