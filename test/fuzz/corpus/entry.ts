/** Valid requests of a protocol, made from real calls: what the server has handed out is in them. */
import type { LegacyClient } from '../../revision-2025-11-25/wire.js';
import type { WireClient } from '../../support/mcp.js';
import { treeOf } from '../json-tree.js';
import type { FuzzRequest } from '../request.js';

export interface Entry {
  name: string;
  request: FuzzRequest;
  /** A wait or a stream: that it isn't answered soon is no failure. */
  mayWait: boolean;
}

export interface Corpus {
  entries: Entry[];
  /** Values that the server has made: tokens, sealed IDs, cursors. */
  harvest: string[];
}

export class CorpusBuilder implements Corpus {
  readonly entries: Entry[] = [];
  readonly harvest: string[] = [];

  constructor(readonly base: string) {}

  add(
    name: string,
    method: string,
    target: string,
    headers: Record<string, string>,
    body?: unknown,
    mayWait = false,
  ): void {
    this.entries.push({
      name,
      mayWait,
      request: {
        method,
        target,
        headers: [
          ['host', new URL(this.base).host],
          // One exchange a connection.
          ['connection', 'close'],
          ...Object.entries(headers),
        ],
        ...(body === undefined ? {} : { body: treeOf(body) }),
      },
    });
  }

  /** A request of 2026-07-28. */
  current(client: WireClient, method: string, params: object = {}, mayWait = false): void {
    const { headers, message } = this.#currentOf(client, method, params);
    this.add(this.#nameOf(method, params), 'POST', '/mcp', headers, message, mayWait);
  }

  #currentOf(client: WireClient, method: string, params: object) {
    return {
      headers: client.headers(method, { ...params }),
      message: client.envelope(method, { ...params }),
    };
  }

  /** A request of a session. */
  older(client: LegacyClient, method: string, params: object = {}, mayWait = false): void {
    this.posted(client, this.#nameOf(method, params), client.message(method, params), mayWait);
  }

  /** Any message of a session: a batch, a notification, an answer. */
  posted(client: LegacyClient, name: string, message: unknown, mayWait = false): void {
    this.add(name, 'POST', '/mcp', client.headers(), message, mayWait);
  }

  #nameOf(method: string, params: object): string {
    const { name } = params as { name?: string };
    return name === undefined ? method : `${method} ${name}`;
  }

  /** Keeps the tokens, sealed IDs and URIs in an answer, and returns it. */
  keep<T>(answer: T): T {
    if (typeof answer === 'string') {
      if (/^[\w.~=%:/+-]{16,4000}$/.test(answer)) this.harvest.push(answer);
    } else if (typeof answer === 'object' && answer !== null)
      for (const inner of Object.values(answer)) this.keep(inner);
    return answer;
  }
}

export interface Protocol {
  name: string;
  /** Number of operations that `build` starts. */
  operations: number;
  build: (corpus: CorpusBuilder) => Promise<void>;
}
