/** Content and form of signatures. Workflow code has no key and compares digests; activities and the server verify the signature. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson } from '../json/canonical-json.js';
import type { StartMemo } from './index.js';

/** In hexadecimal digits: 160 bits of SHA-256. */
const DIGEST_LENGTH = 40;

/** Signed messages: the start of a workflow ID; a schedule's starts, whose IDs are `<ID>-<time>`; an answer to an operation. */
export const SIGNED_KINDS = ['start', 'schedule', 'answer'] as const;
export type SignedKind = (typeof SIGNED_KINDS)[number];

export interface Signature {
  kind: SignedKind;
  /** Names the key, without revealing it. */
  keyId: string;
  digest: string;
  mac: string;
  times?: string;
}

const FORM = new RegExp(
  `^(${SIGNED_KINDS.join('|')})\\.([\\w-]{8})\\.([0-9a-f]{${DIGEST_LENGTH}})\\.([\\w-]{32})(?:\\.([\\w-]+))?$`,
);

/** Undefined for anything but a signature. */
export function parseSignature(text: unknown): Signature | undefined {
  const [, kind, keyId, digest, mac, times] = (typeof text === 'string' && FORM.exec(text)) || [];
  if (!kind || (times !== undefined && kind !== 'schedule')) return undefined;
  const signature = { kind: kind as SignedKind, keyId: keyId!, digest: digest!, mac: mac! };
  return times === undefined ? signature : { ...signature, times };
}

export function formatSignature({ kind, keyId, digest, mac, times }: Signature): string {
  return `${kind}.${keyId}.${digest}.${mac}${times === undefined ? '' : `.${times}`}`;
}

/** Digest of a value that was or will be sent as JSON. */
export function digestOfJson(value: unknown): string {
  return bytesToHex(sha256(utf8ToBytes(canonicalJson(value)))).slice(0, DIGEST_LENGTH);
}

/** Digest of a start. @param args arguments of the workflow function */
export function startDigest(workflowType: string, memo: StartMemo, args: readonly unknown[]): string {
  const { signature: _signature, ...signed } = memo;
  return digestOfJson([workflowType, signed, args]);
}
