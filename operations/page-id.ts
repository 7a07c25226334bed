/** Workflow IDs of a pipeline's pages. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

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
