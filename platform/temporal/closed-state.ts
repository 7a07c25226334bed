/** Reads the state that a workflow left in its memos when it closed. Needs no worker, and works for other releases' code. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import {
  LARGE_STATE_MEMO,
  STATE_MEMO,
  type LargeState,
  type StateMemo,
  type StoredClaim,
} from '../../operations/wire/index.js';
import { readStored } from './data-converter.js';
import type { Storage } from '../storage/index.js';

/**
 * Reads a closed workflow's state; undefined while open. If Temporal ended it, this is the last published state, without
 * children.
 *
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
