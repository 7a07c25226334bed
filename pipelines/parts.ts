/** Records of a pipeline's parts: its jobs, their items, and pages of items. */
import type { ChildRecord, StepRecord } from '../operations/record.js';
import type { Job } from './pipeline.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

export function pendingSteps({ steps }: Job): StepRecord[] {
  return steps.map(({ name }) => ({ name, status: 'pending' }));
}

/** Name of the job of the part `test`, `test[3]` or `test[0-249]`. */
export function jobOf(part: string): string {
  return part.replace(/\[\d+(-\d+)?\]$/, '');
}

export function pageHas({ page }: ChildRecord, child: string): boolean {
  const index = Number(/\[(\d+)\]$/.exec(child)?.[1] ?? -1);
  return page?.job === jobOf(child) && index >= page.from && index < page.from + page.count;
}

/** In characters, on PostgreSQL. */
export const LONGEST_WORKFLOW_ID = 255;
/** In hexadecimal digits: 128 bits of SHA-256. */
const HASH_LENGTH = 32;

/** `<workflow ID>/<page name>`. A hash replaces the end of an ID that would be too long. */
export function pageWorkflowId(workflowId: string, page: string): string {
  const id = `${workflowId}/${page}`;
  if (id.length <= LONGEST_WORKFLOW_ID) return id;
  const hash = bytesToHex(sha256(utf8ToBytes(id))).slice(0, HASH_LENGTH);
  return `${id.slice(0, LONGEST_WORKFLOW_ID - HASH_LENGTH - 1)}~${hash}`;
}
