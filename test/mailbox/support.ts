/** Engines of a test's own over a real worker. */
import { randomUUID } from 'node:crypto';
import { Mailbox, type MailboxOptions } from '../../mailbox/client/index.js';
import { TemporalClient } from '../../engine/temporal.js';
import { Watches } from '../../engine/watch.js';
import type { DeliveredMessage, ReceiveOptions, ReceiveResult } from '../../mailbox/types.js';
import { mailboxPrefix } from '../../mailbox/client/ids.js';
import { createLogger } from '../../platform/log.js';
import { loadSecret } from '../../platform/secret.js';
import { storageOf } from '../../platform/storage.js';
import { eventually } from '../stack/cli-process.js';
import type { TestStack } from '../support/test-stack.js';

const home = process.env['LONGHAUL_HOME']!;
export const secret = loadSecret(home);

/** A mailbox as one server process has it: its own connection, its own long polls. */
export interface Post {
  mailbox: Mailbox;
  temporal: TemporalClient;
}

export async function openPost(
  { taskQueue }: Pick<TestStack, 'taskQueue'>,
  options?: MailboxOptions,
): Promise<Post> {
  const storage = storageOf({ home });
  const temporal = new TemporalClient(home, storage, taskQueue, createLogger('test', 'warn'));
  await eventually('the engine is connected', () => temporal.facts().catch(() => undefined));
  return { mailbox: new Mailbox(temporal, new Watches(temporal), secret, storage, options), temporal };
}

/** A principal that no other test has. */
export function somebody(): string {
  return `somebody-${randomUUID()}`;
}

export function workflowId(parts: TestStack, principal: string, what: string): string {
  return mailboxPrefix(principal, parts.taskQueue, secret) + what;
}

/** Options of a wait that takes as long as it must. */
export function patiently(options: Partial<ReceiveOptions> = {}): ReceiveOptions {
  return { timeoutMs: 60_000, signal: new AbortController().signal, ...options };
}

/** Options of a wait that looks once. */
export const once = (options: Partial<ReceiveOptions> = {}) => patiently({ timeoutMs: 0, ...options });

export function messageOf(received: ReceiveResult): DeliveredMessage {
  if (received.kind !== 'message') throw new Error(`expected a message; got ${received.kind}`);
  return received.message;
}

/** Registers an agent. */
export async function join(
  { mailbox }: Post,
  principal: string,
  name: string,
  what: { type?: string; capabilities?: string[]; parent?: string } = {},
): Promise<string> {
  const { type = 'test', capabilities = [], parent } = what;
  const registration = { name, type, capabilities, ...(parent === undefined ? {} : { parent }) };
  return (await mailbox.register(principal, registration)).agentId;
}
