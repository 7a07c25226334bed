/** Mailbox clients over a real worker. */
import { randomUUID } from 'node:crypto';
import { Mailbox, type MailboxOptions } from '../../mailbox/client/index.js';
import { TemporalClient } from '../../engine/temporal/client.js';
import { Watches } from '../../engine/watch/index.js';
import type { DeliveredMessage, ReceiveOptions, ReceiveResult } from '../../mailbox/types.js';
import { mailboxPrefix } from '../../mailbox/client/ids.js';
import { createLogger } from '../../platform/observe/log.js';
import { loadSecret } from '../../platform/home/secret.js';
import { openStorage } from '../../platform/storage/index.js';
import { eventually } from '../stack/cli-process.js';
import { TestStack } from '../support/test-stack.js';

const home = process.env['LONGHAUL_HOME']!;
export const secret = loadSecret(home);

/** The mailbox client of one server process, with its own connection and long polls. */
export interface MailboxProcess {
  mailbox: Mailbox;
  temporal: TemporalClient;
}

export async function openMailbox(
  { taskQueue }: Pick<TestStack, 'taskQueue'>,
  options?: MailboxOptions,
): Promise<MailboxProcess> {
  const storage = openStorage({ home });
  const temporal = new TemporalClient({ home, taskQueue }, storage, createLogger('test', 'warn'));
  await eventually('the engine is connected', () => temporal.facts().catch(() => undefined));
  return { mailbox: new Mailbox(temporal, new Watches(temporal), secret, options), temporal };
}

/** A stack, and the mailbox clients of two server processes on its task queue. */
export class MailboxStack {
  private constructor(
    readonly parts: TestStack,
    readonly server: MailboxProcess,
    readonly other: MailboxProcess,
  ) {}

  static async start(options?: MailboxOptions): Promise<MailboxStack> {
    const parts = await TestStack.shared();
    const [server, other] = await Promise.all([openMailbox(parts, options), openMailbox(parts, options)]);
    return new MailboxStack(parts, server, other);
  }

  async stop(): Promise<void> {
    await Promise.all([this.server.temporal.close(), this.other.temporal.close()]);
    await this.parts.stop();
  }
}

/** A principal of this test alone. */
export function newPrincipal(): string {
  return `principal-${randomUUID()}`;
}

export function workflowId(parts: TestStack, principal: string, what: string): string {
  return mailboxPrefix(principal, parts.taskQueue, secret) + what;
}

/** Options of a wait with a generous time-out. */
export function longWait(options: Partial<ReceiveOptions> = {}): ReceiveOptions {
  return { timeoutMs: 60_000, signal: new AbortController().signal, ...options };
}

/** Options of a wait that reads the inbox once. */
export const once = (options: Partial<ReceiveOptions> = {}) => longWait({ timeoutMs: 0, ...options });

export function messageOf(received: ReceiveResult): DeliveredMessage {
  if (received.kind !== 'message') throw new Error(`expected a message; got ${received.kind}`);
  return received.message;
}

/** Registers an agent. */
export async function join(
  { mailbox }: MailboxProcess,
  principal: string,
  name: string,
  what: { type?: string; capabilities?: string[]; parent?: string } = {},
): Promise<string> {
  const { type = 'test', capabilities = [], parent } = what;
  const registration = { name, type, capabilities, ...(parent === undefined ? {} : { parent }) };
  return (await mailbox.register(principal, registration)).agentId;
}

/** A message to one agent. */
export const toOne = (name: string, content: string) => ({ to: { names: [name] }, content, mode: 'task' });
