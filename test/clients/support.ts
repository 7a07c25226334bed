/** The main job as every client is to drive it, and what a host brings along for tasks. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from '@jest/globals';
import { DuckDBInstance } from '@duckdb/node-api';
import {
  Client,
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  type ClientCapabilities,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCResultResponse,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';

export const FLIGHTS = resolve('node_modules/vega-datasets/data/flights-3m.parquet');
export const PROTOCOL_VERSION = '2026-07-28';
export const CLIENT_INFO = { name: 'longhaul-tests', version: '1' };
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
export const CAPABILITIES = { elicitation: { form: {} }, extensions: { [TASKS_EXTENSION]: {} } };

/** Profiles three million flights, groups them, and asks before it writes the result. */
export const MAIN_JOB = {
  path: FLIGHTS,
  group_by: ['origin'],
  aggregates: [{ fn: 'count', as: 'flights' }],
  profile: true,
  ask_over_mb: 0,
};

/** Takes requests beside the SDK's client on the same connection, and matches their answers: a host's coordinator. */
export class CoordinatedTransport implements Transport {
  readonly #pending = new Map<string, (answer: JSONRPCResultResponse | JSONRPCErrorResponse) => void>();
  #lastId = 0;
  onmessage?: Transport['onmessage'];
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];

  constructor(readonly inner: Transport) {
    inner.onmessage = (message, extra) => {
      const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
      const settle = isAnswer ? this.#pending.get(String(message.id)) : undefined;
      if (settle && isAnswer) settle(message);
      else this.onmessage?.(message, extra);
    };
    inner.onclose = () => this.onclose?.();
    inner.onerror = (error) => this.onerror?.(error);
  }

  get hasPerRequestStream(): boolean {
    return this.inner.hasPerRequestStream === true;
  }

  start(): Promise<void> {
    return this.inner.start();
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    return this.inner.send(message, options);
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion?.(version);
  }

  /** Sends a request as it is, and gives its answer as it came. */
  async dispatch(
    request: { method: string; params?: Record<string, unknown> },
    options: { signal?: AbortSignal | undefined; headers?: Record<string, string> | undefined } = {},
  ): Promise<JSONRPCResultResponse | JSONRPCErrorResponse> {
    const id = `raw:${++this.#lastId}`;
    try {
      return await new Promise((settle, fail) => {
        this.#pending.set(id, settle);
        options.signal?.addEventListener('abort', () => fail(options.signal?.reason as Error));
        this.inner
          .send(
            { jsonrpc: '2.0', id, ...request },
            {
              ...(options.signal ? { requestSignal: options.signal } : {}),
              ...(options.headers ? { headers: options.headers } : {}),
            },
          )
          .catch(fail);
      });
    } finally {
      this.#pending.delete(id);
    }
  }
}

const connected: Client[] = [];

/** Closes what a test has left open. */
export async function closeClients(): Promise<void> {
  await Promise.all(connected.splice(0).map((client) => client.close()));
}

/** The official client, connected by discovery as in 2026-07-28. */
export async function connect(
  inner: Transport,
  capabilities: ClientCapabilities = CAPABILITIES,
): Promise<{ client: Client; transport: CoordinatedTransport }> {
  const transport = new CoordinatedTransport(inner);
  const client = new Client(CLIENT_INFO, { capabilities, versionNegotiation: { mode: 'auto' } });
  connected.push(client);
  await client.connect(transport);
  return { client, transport };
}

export interface MainResult {
  structuredContent?: unknown;
}

/** Checks the main job's result, and reads its artifact with the client: a Parquet file with a row an airport. */
export async function expectMainResult(result: MainResult, client: Client): Promise<void> {
  const output = result.structuredContent as {
    file: { row_count: number };
    row_count: number;
    profile: { name: string }[];
    artifact: { uri: string; bytes: number; row_count: number };
  };
  expect(output.file.row_count).toBe(3_000_000);
  expect(output.profile.map(({ name }) => name)).toContain('origin');
  expect(output.artifact.row_count).toBe(output.row_count);
  const { contents } = await client.readResource({ uri: output.artifact.uri });
  const bytes = Buffer.from((contents[0] as { blob: string }).blob, 'base64');
  expect(bytes).toHaveLength(output.artifact.bytes);
  expect(await rowsOf(bytes)).toEqual({ airports: output.row_count, flights: 3_000_000 });
}

async function rowsOf(parquet: Buffer): Promise<{ airports: number; flights: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-artifact-'));
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    const path = join(folder, 'artifact.parquet');
    writeFileSync(path, parquet);
    const sql = `SELECT count(*)::INT AS airports, sum(flights)::INT AS flights FROM read_parquet('${path}')`;
    const [row] = (await connection.runAndReadAll(sql)).getRowObjects();
    return row as { airports: number; flights: number };
  } finally {
    connection.closeSync();
    instance.closeSync();
    rmSync(folder, { recursive: true });
  }
}
