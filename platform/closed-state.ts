/** State that a workflow left in its memos as it closed: reading it needs no worker, and works for code of other releases. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import {
  LARGE_STATE_MEMO,
  STATE_MEMO,
  type LargeState,
  type StateMemo,
  type StoredClaim,
} from '../operations/wire.js';
import { readStored } from './data-converter.js';
import type { Storage } from './storage/index.js';

/**
 * Reads the complete state of a closed workflow. If Temporal ended the workflow (it was terminated, or its execution timed out), this
 * is the last state that it published while it was open: without children.
 *
 * @returns undefined while it is open
 * @throws LonghaulError `internal` if the part in storage is lost
 */
export async function readClosedState(
  { closeTime, memo }: WorkflowExecutionDescription,
  storage: Storage,
): Promise<StateMemo | undefined> {
  if (!closeTime) return undefined;
  const state = (memo?.[STATE_MEMO] as StateMemo | undefined) ?? {};
  const claim = memo?.[LARGE_STATE_MEMO] as StoredClaim | undefined;
  if (!claim) return state;
  return { ...state, ...((await readStored(storage, claim)) as LargeState) };
}
