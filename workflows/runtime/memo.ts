/** Memos of operations: payloads of the state, and a limit for all others. Lists read memos, and can't resolve references to storage. */
import { defaultPayloadConverter, log, type ConcludeActivationInput } from '@temporalio/workflow';
import type { Payload } from '@temporalio/common';
import { STORED_METADATA } from '../../operations/wire/index.js';
import {
  INPUT_MEMO,
  INPUT_MEMO_BYTES,
  SMALL_FIELD_BYTES,
  STATE_MEMO,
  type StateFields,
} from '../../operations/wire/state.js';

export type MemoField = keyof StateFields;

/** Payloads of the fields that have a value. The worker stores those that are too large for a memo. */
export function memoPayloads(values: StateFields, fields: Iterable<MemoField>): Record<string, Payload> {
  const payloads: Record<string, Payload> = {};
  for (const field of fields)
    if (values[field] !== undefined) payloads[field] = payloadOf(field, values[field]);
  return payloads;
}

function payloadOf(field: MemoField, value: unknown): Payload {
  const { metadata, data } = defaultPayloadConverter.toPayload(value);
  const isSmall = field === STATE_MEMO || field === INPUT_MEMO || data!.length <= SMALL_FIELD_BYTES;
  if (isSmall) return { metadata, data };
  return {
    data,
    metadata: { ...metadata, [STORED_METADATA]: defaultPayloadConverter.toPayload(field).data! },
  };
}

/** Replaces memo values that authors set and the SDK would move to storage. */
export function boundMemos(commands: ConcludeActivationInput['commands']): void {
  for (const command of commands)
    for (const memo of [
      command.modifyWorkflowProperties?.upsertedMemo?.fields,
      command.continueAsNewWorkflowExecution?.memo,
      command.startChildWorkflowExecution?.memo,
    ])
      for (const [key, { data }] of Object.entries(memo ?? {})) {
        const bytes = data?.length ?? 0;
        if (bytes <= INPUT_MEMO_BYTES) continue;
        log.warn('a value is too large for a memo, so it was left out', {
          key,
          bytes,
          limit: INPUT_MEMO_BYTES,
        });
        memo![key] = defaultPayloadConverter.toPayload({ longhaul: 'too_large', bytes });
      }
}
