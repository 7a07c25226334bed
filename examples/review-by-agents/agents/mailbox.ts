/** An agent's connection to Longhaul: the official client, and the rules of its mailbox (docs/agents.md of Longhaul). */
/* eslint-disable @typescript-eslint/no-explicit-any -- answers of tools have many shapes */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** A call is repeated for this time while the server or its worker is away. */
const PATIENCE_MS = 120_000;
const RETRY_MS = 500;
/** Longer than any wait of a call. */
const CALL_LIMIT_MS = 150_000;

export interface Message {
  id: string;
  from: string;
  mode: string;
  text: string;
  context: any;
  /** ID of the message that this one responds to. */
  re?: string;
}

/** End of a wait. */
export type Wake =
  | { kind: 'message'; message: Message; ops: Record<string, string> }
  | { kind: 'operations'; ops: Record<string, string> }
  | { kind: 'nothing' }
  | { kind: 'end' };

export interface WaitOptions {
  /** Tokens of operations whose end also ends the wait. */
  also?: string[];
  timeoutSeconds?: number;
}

/** The server refused a call for good. */
export class RefusedError extends Error {}

export class Mailbox {
  #agentId = '';
  /** An answer leaves out sender and mode if they are those of the message before. */
  #latest = { from: '', mode: '' };

  private constructor(
    private readonly client: Client,
    readonly name: string,
    /** A message is delivered again, or returns to its sender, when its agent doesn't report for this time. */
    readonly leaseSeconds: number,
  ) {}

  static async connect(url: string, name: string, leaseSeconds: number): Promise<Mailbox> {
    const client = new Client(
      { name: 'review-by-agents', version: '1' },
      { versionNegotiation: { mode: 'auto' } },
    );
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return new Mailbox(client, name, leaseSeconds);
  }

  close(): Promise<void> {
    return this.client.close();
  }

  /**
   * Calls a tool, again if the answer was lost or may succeed later: every call here may be repeated, by its key or by its nature.
   *
   * @returns structured content, or the JSON of the text
   * @throws RefusedError
   */
  async call(name: string, args: Record<string, unknown>): Promise<any> {
    const until = Date.now() + PATIENCE_MS;
    for (;;) {
      let why: unknown;
      try {
        const result = await this.client.callTool({ name, arguments: args }, { timeout: CALL_LIMIT_MS });
        const text = result.content?.map((block) => (block.type === 'text' ? block.text : '')).join('') ?? '';
        if (!result.isError) return result.structuredContent ?? JSON.parse(text);
        const error = result._meta?.['longhaul/error'] as { retryable?: boolean } | undefined;
        if (!error?.retryable) throw new RefusedError(`${name}: ${text}`);
        why = text;
      } catch (error) {
        if (error instanceof RefusedError) throw error;
        why = error;
      }
      if (Date.now() > until) throw new Error(`${name} failed for ${PATIENCE_MS / 1000} s`, { cause: why });
      await sleep(RETRY_MS);
    }
  }

  async register(more: { capabilities: string[]; parent?: string }): Promise<Wake> {
    const answer = await this.call('register_and_wait', {
      agent_name: this.name,
      agent_type: 'script',
      lease_seconds: this.leaseSeconds,
      timeout_seconds: 0.1,
      ...more,
    });
    this.#agentId = answer.agent_id;
    return this.#wakeOf(answer);
  }

  /** @param ack ID of a message that gets no response */
  async wait(options: WaitOptions = {}, ack?: string): Promise<Wake> {
    return this.#wakeOf(await this.call('wait', { ...this.#waiting(options), ...(ack && { ack }) }));
  }

  /** Responds to a message, and waits for the next. */
  async respond(message: Message, response: object, options: WaitOptions = {}): Promise<Wake> {
    const args = { response_to: message.id, response: JSON.stringify(response) };
    return this.#wakeOf(await this.call('respond_and_wait', { ...args, ...this.#waiting(options) }));
  }

  /** @param key the same key and message is sent once */
  send(key: string, content: string, more: Record<string, unknown>): Promise<any> {
    return this.call('send_message', { content, agent_id: this.#agentId, idempotency_key: key, ...more });
  }

  /** Keeps a message that takes longer, and shows its sender how far it is. */
  async report(message: Message, text: string): Promise<void> {
    // A lease that has ended meanwhile changes nothing: a response still counts.
    const args = { agent_id: this.#agentId, message_id: message.id, text };
    await ignoreRefusal(this.call('report_progress', args));
  }

  /** Answers a question of an operation. Another agent may have answered it: then that answer counts. */
  async answer(token: string, key: string, content: object): Promise<void> {
    await ignoreRefusal(this.call('operation_answer', { token, key, action: 'accept', content }));
  }

  /** Ends the session of a child. */
  async bye(child: string): Promise<void> {
    await ignoreRefusal(this.call('bye', { agent_id: this.#agentId, agent_name: child }));
  }

  #waiting({ also, timeoutSeconds }: WaitOptions): Record<string, unknown> {
    return {
      agent_id: this.#agentId,
      lease_seconds: this.leaseSeconds,
      ...(also?.length ? { also } : {}),
      ...(timeoutSeconds === undefined ? {} : { timeout_seconds: timeoutSeconds }),
    };
  }

  #wakeOf(answer: any): Wake {
    if (answer.bye || answer.gone) return { kind: 'end' };
    if (answer.id === undefined)
      return answer.ops ? { kind: 'operations', ops: answer.ops } : { kind: 'nothing' };
    this.#latest = { from: answer.from ?? this.#latest.from, mode: answer.mode ?? this.#latest.mode };
    const { id, m: text, ctx: context, re } = answer;
    const message: Message = { id, text, context, ...this.#latest, ...(re && { re }) };
    return { kind: 'message', message, ops: answer.ops ?? {} };
  }
}

async function ignoreRefusal(call: Promise<unknown>): Promise<void> {
  await call.catch((error) => {
    if (!(error instanceof RefusedError)) throw error;
  });
}
