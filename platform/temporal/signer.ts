/** Signatures of starts and answers, against anybody who reaches Temporal without the home's secret. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { canonicalJson } from '../../operations/json/canonical-json.js';
import {
  formatSignature,
  parseSignature,
  startDigest,
  type SignedKind,
} from '../../operations/wire/signatures.js';
import { isScheduledTime, type ScheduleTimes } from '../../operations/tool/schedule-times.js';
import type { StartMemo } from '../../operations/wire/index.js';

/** Why a signature isn't valid: made with another key, for something else, or for another time than the workflow ID's. */
export type SignatureProblem = 'other-key' | 'forged' | 'off-schedule';

/** Time that a Temporal schedule appends to a workflow ID, after a hyphen. */
const SCHEDULED_TIME = /-(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)Z$/;

/** Splits a scheduled run's workflow ID into its base ID and time (epoch milliseconds); undefined for other IDs. */
export function scheduledRunOf(workflowId: string): { id: string; timeMs: number } | undefined {
  const [ending, time] = SCHEDULED_TIME.exec(workflowId) ?? [];
  if (ending === undefined) return undefined;
  const timeMs = Date.parse(`${time}Z`);
  // JavaScript takes February 30 for March 1 or 2.
  if (Number.isNaN(timeMs) || new Date(timeMs).toISOString() !== `${time}.000Z`) return undefined;
  return { id: workflowId.slice(0, -ending.length), timeMs };
}

/** Times in a signature for a schedule. */
export function timesIn(text: unknown): ScheduleTimes | undefined {
  const times = parseSignature(text)?.times;
  return times === undefined
    ? undefined
    : (JSON.parse(Buffer.from(times, 'base64url').toString()) as ScheduleTimes);
}

/** Signs and verifies. Derives its key from the secret, so a signature reveals nothing about the secret's other uses. */
export class Signer {
  readonly #key: Buffer;
  /** Names the key in signatures. */
  readonly keyId: string;

  constructor(secret: Buffer) {
    this.#key = createHmac('sha256', secret).update('longhaul signatures').digest();
    this.keyId = createHash('sha256').update(this.#key).digest('base64url').slice(0, 8);
  }

  /** @param id workflow ID of the operation */
  sign(kind: Exclude<SignedKind, 'schedule'>, id: string, digest: string): string {
    return formatSignature({ kind, keyId: this.keyId, digest, mac: this.#mac(kind, id, digest) });
  }

  /** @param id base ID, to which the schedule appends a time @param times of the schedule */
  signSchedule(id: string, digest: string, times: ScheduleTimes): string {
    const encoded = Buffer.from(JSON.stringify(times)).toString('base64url');
    const mac = this.#mac('schedule', id, digest, encoded);
    return formatSignature({ kind: 'schedule', keyId: this.keyId, digest, mac, times: encoded });
  }

  /** ID of an answer, the same for equal parts. @param parts answerer, answer, and the answerer's own ID for it */
  answerId(workflowId: string, key: string, parts: readonly unknown[]): string {
    return createHmac('sha256', this.#key)
      .update(canonicalJson(['answer ID', workflowId, key, ...parts]))
      .digest('base64url')
      .slice(0, 32);
  }

  /**
   * The start memo with a signature.
   *
   * @param id workflow ID of the operation, or the schedule's base ID
   * @param times of the schedule that starts it
   */
  signedMemo<Memo extends StartMemo>(
    id: string,
    { workflowType, memo, args }: { workflowType: string; memo: Memo; args: readonly unknown[] },
    times?: ScheduleTimes,
  ): Memo {
    const digest = startDigest(workflowType, memo, args);
    const signature = times ? this.signSchedule(id, digest, times) : this.sign('start', id, digest);
    return { ...memo, signature };
  }

  /** Verifies a signature of one of these kinds; undefined when it is valid. @param workflowId the ID that Temporal reports */
  problemOf(kinds: readonly SignedKind[], workflowId: string, text: unknown): SignatureProblem | undefined {
    const signature = parseSignature(text);
    if (!signature || !kinds.includes(signature.kind)) return 'forged';
    if (signature.keyId !== this.keyId) return 'other-key';
    const { kind, digest, mac, times } = signature;
    const scheduled = kind === 'schedule' ? scheduledRunOf(workflowId) : undefined;
    if (kind === 'schedule' && (!scheduled || times === undefined)) return 'forged';
    const expected = this.#mac(kind, scheduled?.id ?? workflowId, digest, times);
    if (!timingSafeEqual(Buffer.from(mac), Buffer.from(expected))) return 'forged';
    return scheduled && !isScheduledTime(timesIn(text)!, scheduled.timeMs) ? 'off-schedule' : undefined;
  }

  /** 192 bits. */
  #mac(kind: SignedKind, id: string, digest: string, times?: string): string {
    const signed = [kind, id, digest, ...(times === undefined ? [] : [times])];
    const mac = createHmac('sha256', this.#key).update(canonicalJson(signed));
    return mac.digest('base64url').slice(0, 32);
  }
}
