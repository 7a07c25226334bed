/** Validation of arguments, shared by every protocol. */
import { LonghaulError } from '../operations/errors.js';
import { jsonBytes, utf8Bytes } from './json-size.js';
import {
  CANDIDATES_LIMIT,
  CAPABILITIES_LIMIT,
  CONTENT_LIMIT_BYTES,
  CONTEXT_LIMIT_BYTES,
  LEASE_RANGE_SECONDS,
  MAX_DELIVERIES_RANGE,
  RECIPIENTS_LIMIT,
  REPORT_LIMIT_BYTES,
  STATUS_PAGE_LIMIT,
  TTL_LIMIT_SECONDS,
} from './limits.js';
import type { MessageProgress, OutgoingMessage, Recipients, Registration, StatusOptions } from './types.js';

/** 1 to 64 letters, digits and `. _ -`, the first a letter or digit. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** 1 to 64 printable characters, no blank at either end. */
const LABEL = /^(?! )[^\p{C}\p{Zl}\p{Zp}]{1,64}(?<! )$/u;

/** @throws LonghaulError `invalid_arguments` */
export function assertAgentName(name: unknown, where: string): asserts name is string {
  if (typeof name === 'string' && NAME.test(name)) return;
  throw invalid(where, '1 to 64 letters, digits and . _ -, the first a letter or digit', name);
}

/** @throws LonghaulError `invalid_arguments` */
export function assertLabel(label: unknown, where: string): asserts label is string {
  if (typeof label === 'string' && LABEL.test(label)) return;
  throw invalid(where, '1 to 64 printable characters', label);
}

/** @throws LonghaulError `invalid_arguments` */
export function assertRegistration({ name, type, capabilities, parent }: Registration): void {
  assertAgentName(name, 'agent_name');
  assertLabel(type, 'agent_type');
  if (!Array.isArray(capabilities) || capabilities.length > CAPABILITIES_LIMIT)
    throw invalid('capabilities', `a list of at most ${CAPABILITIES_LIMIT}`, capabilities);
  capabilities.forEach((one, index) => assertLabel(one, `capabilities[${index}]`));
  if (parent === undefined) return;
  assertAgentName(parent, 'parent');
  if (parent === name) throw invalid('parent', 'an agent other than itself', parent);
}

/** @throws LonghaulError `invalid_arguments`, `too_large` */
export function assertMessage(message: OutgoingMessage): void {
  assertRecipients(message.to);
  assertLabel(message.mode, 'mode');
  assertContent(message.content, 'content');
  if (message.from && 'name' in message.from) assertAgentName(message.from.name, 'from');
  if (message.replyTo !== undefined) assertAgentName(message.replyTo, 'reply_to');
  const { ttlSeconds: ttl } = message;
  if (ttl !== undefined) assertWithin(ttl, [1, TTL_LIMIT_SECONDS], 'ttl_seconds');
  if (message.maxDeliveries !== undefined)
    assertWithin(message.maxDeliveries, MAX_DELIVERIES_RANGE, 'max_deliveries', Number.isInteger);
  const contextBytes = message.context === undefined ? 0 : jsonBytes(message.context);
  if (contextBytes > CONTEXT_LIMIT_BYTES) throw tooLarge('context', CONTEXT_LIMIT_BYTES, contextBytes);
}

/** @throws LonghaulError `invalid_arguments`, `too_large` */
export function assertContent(content: unknown, where: string): asserts content is string {
  assertText(content, where, CONTENT_LIMIT_BYTES);
}

/** @throws LonghaulError `invalid_arguments`, `too_large` */
export function assertReport({ text, fraction }: Pick<MessageProgress, 'text' | 'fraction'>): void {
  assertText(text, 'text', REPORT_LIMIT_BYTES);
  if (fraction !== undefined) assertWithin(fraction, [0, 1], 'fraction');
}

/** @throws LonghaulError `invalid_arguments` */
export function assertStatusOptions({ parent, cursor, limit }: StatusOptions): void {
  if (parent !== undefined) assertAgentName(parent, 'parent');
  if (cursor !== undefined && !NAME.test(cursor))
    throw invalid('cursor', 'next_cursor of the previous page', cursor);
  if (limit !== undefined) assertWithin(limit, [1, STATUS_PAGE_LIMIT], 'limit', Number.isInteger);
}

function assertText(text: unknown, where: string, limitBytes: number): asserts text is string {
  if (typeof text !== 'string' || text === '') throw invalid(where, 'a text that is not empty', text);
  const bytes = utf8Bytes(text);
  if (bytes > limitBytes) throw tooLarge(where, limitBytes, bytes);
}

function assertWithin(
  value: number,
  [least, most]: readonly [number, number],
  where: string,
  isValid: (value: number) => boolean = Number.isFinite,
): void {
  if (isValid(value) && value >= least && value <= most) return;
  throw invalid(
    where,
    `${isValid === Number.isInteger ? 'a whole number from ' : ''}${least} to ${most}`,
    value,
  );
}

/** @throws LonghaulError `invalid_arguments` */
export function assertLease(seconds: number): void {
  assertWithin(seconds, LEASE_RANGE_SECONDS, 'lease_seconds');
}

function assertRecipients(to: Recipients): void {
  if ('names' in to) {
    assertNames(to.names, 'to');
    return;
  }
  const selector = 'all' in to ? to.all : to.anyone;
  const limit = 'all' in to ? RECIPIENTS_LIMIT : CANDIDATES_LIMIT;
  if (selector.names !== undefined) assertNames(selector.names, 'to.names', limit);
  if (selector.type !== undefined) assertLabel(selector.type, 'to.type');
  if (selector.capability !== undefined) assertLabel(selector.capability, 'to.capability');
}

function assertNames(names: unknown, where: string, limit = RECIPIENTS_LIMIT): void {
  if (!Array.isArray(names) || names.length === 0 || names.length > limit)
    throw invalid(where, `1 to ${limit} names`, names);
  names.forEach((name, index) => assertAgentName(name, names.length === 1 ? where : `${where}[${index}]`));
}

function invalid(where: string, expected: string, got: unknown): LonghaulError {
  const shown = JSON.stringify(got) ?? 'nothing';
  return new LonghaulError('invalid_arguments', `${where}: expected ${expected}; got ${shown.slice(0, 100)}`);
}

function tooLarge(where: string, limitBytes: number, bytes: number): LonghaulError {
  return new LonghaulError('too_large', `${where}: expected at most ${limitBytes} bytes; got ${bytes}`);
}
