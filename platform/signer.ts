/**
 * Signatures of servers and workers that share the home's secret: of starts and of answers. They keep out who reaches Temporal
 * without the secret.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { canonicalJson } from '../operations/canonical-json.js';
import { formatSignature, parseSignature, startDigest, type SignedKind } from '../operations/signatures.js';
import type { StartMemo } from '../operations/wire.js';

/** Why a signature isn't valid: it was made with another key, or not for this. */
export type SignatureProblem = 'other-key' | 'forged';

/** Time stamp that Temporal adds to the workflow ID of a schedule, after a hyphen. */
const SCHEDULED_TIME = /-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Signs and verifies. The key is derived from the secret, so that a signature reveals nothing about other uses of it. */
export class Signer {
  readonly #key: Buffer;
  /** Names the key in signatures. */
  readonly keyId: string;

  constructor(secret: Buffer) {
    this.#key = createHmac('sha256', secret).update('longhaul signatures').digest();
    this.keyId = createHash('sha256').update(this.#key).digest('base64url').slice(0, 8);
  }

  /** @param id workflow ID of the operation; of a schedule, the ID that the time is added to */
  sign(kind: SignedKind, id: string, digest: string): string {
    return formatSignature({ kind, keyId: this.keyId, digest, mac: this.#mac(kind, id, digest) });
  }

  /**
   * ID of an answer to a question: the same for equal parts, and nobody without the secret can make it.
   *
   * @param parts answerer, answer, and the answerer's own ID for it
   */
  answerId(workflowId: string, key: string, parts: readonly unknown[]): string {
    return createHmac('sha256', this.#key)
      .update(canonicalJson(['answer ID', workflowId, key, ...parts]))
      .digest('base64url')
      .slice(0, 32);
  }

  /** The start memo with a signature. @param args arguments of the workflow function */
  signedMemo<Memo extends StartMemo>(
    kind: 'start' | 'schedule',
    id: string,
    workflowType: string,
    memo: Memo,
    args: readonly unknown[],
  ): Memo {
    return { ...memo, signature: this.sign(kind, id, startDigest(workflowType, memo, args)) };
  }

  /**
   * Verifies a signature of one of these kinds.
   *
   * @param workflowId that Temporal reports
   * @returns undefined when it is valid
   */
  problemOf(kinds: readonly SignedKind[], workflowId: string, text: unknown): SignatureProblem | undefined {
    const signature = parseSignature(text);
    if (!signature || !kinds.includes(signature.kind)) return 'forged';
    if (signature.keyId !== this.keyId) return 'other-key';
    const { kind, digest, mac } = signature;
    if (kind === 'schedule' && !SCHEDULED_TIME.test(workflowId)) return 'forged';
    const id = kind === 'schedule' ? workflowId.replace(SCHEDULED_TIME, '') : workflowId;
    return timingSafeEqual(Buffer.from(mac), Buffer.from(this.#mac(kind, id, digest))) ? undefined : 'forged';
  }

  /** 192 bits. */
  #mac(kind: SignedKind, id: string, digest: string): string {
    const mac = createHmac('sha256', this.#key).update(canonicalJson([kind, id, digest]));
    return mac.digest('base64url').slice(0, 32);
  }
}
