/** Reads the state that a workflow has left in its memo, with the values in storage. Needs no worker, and works for other releases' code. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import {
  fieldValue,
  publishedState,
  type PublishedState,
  type StoredClaim,
  type StoredField,
} from '../../operations/wire/state.js';
import type { Storage } from '../storage/index.js';
import { readStored } from './data-converter.js';

/**
 * Reads a closed workflow's whole state; undefined while open. If Temporal ended it, this is the last published state, without
 * children.
 *
 * @throws LonghaulError `internal` if a value in storage is lost
 */
export async function readClosedState(
  { closeTime, memo }: WorkflowExecutionDescription,
  storage: Storage,
): Promise<PublishedState | undefined> {
  if (!closeTime) return undefined;
  const state = publishedState(memo) ?? {};
  const fields = Object.keys(state.claims ?? {}) as StoredField[];
  return withStoredValues(state, fields, (claim) => readStored(storage, claim));
}

/** Replaces claims by their values. @throws what `read` does */
export async function withStoredValues(
  { claims = {}, ...state }: PublishedState,
  fields: readonly StoredField[],
  read: (claim: StoredClaim) => Promise<unknown>,
): Promise<PublishedState> {
  const found = fields.filter((field) => claims[field]);
  const values = await Promise.all(found.map(async (field) => fieldValue(field, await read(claims[field]!))));
  const left = Object.entries(claims).filter(([field]) => !found.includes(field as StoredField));
  const complete: PublishedState = { ...state, claims: Object.fromEntries(left) };
  for (const value of values) Object.assign(complete, value);
  return complete;
}
