/** Memos, decoded field by field. The SDK decodes a memo as a whole: one bad field would hide the operation, and fail a list for all. */
import type { WorkflowClientInterceptor } from '@temporalio/client';
import {
  defaultPayloadConverter,
  type DataConverter,
  type LoadedDataConverter,
  type Payload,
} from '@temporalio/common';
import { PART_MEMO, START_MEMO } from '../../operations/wire/index.js';
import {
  CHILDREN_MEMO,
  cutText,
  DETAILS_MEMO,
  HOSTS_MEMO,
  INPUT_MEMO,
  PARTIAL_MEMO,
  STATE_MEMO,
} from '../../operations/wire/state.js';
import { isUnreadable, type UnreadableField } from '../../operations/wire/unreadable.js';
import { decodeArrayFromPayloads, loadDataConverter } from './internal/payloads.js';

type Fields = Record<string, Payload> | null | undefined;
export type Memo = Record<string, unknown>;

/** Longhaul's own fields. Authors may encode others as they like. */
const OWN_FIELDS = [
  ...[START_MEMO, PART_MEMO, STATE_MEMO, INPUT_MEMO],
  ...[DETAILS_MEMO, PARTIAL_MEMO, CHILDREN_MEMO, HOSTS_MEMO],
];
/** Maximum JSON of a field's reason. */
const REASON_BYTES = 200;

/** Decodes some fields of a memo in a list or history. One that can't be decoded becomes an {@link UnreadableField}. */
export async function readMemo(
  converter: LoadedDataConverter,
  fields: Fields,
  names: readonly string[],
): Promise<Memo> {
  const found = names.filter((name) => fields?.[name]);
  const values = found.map(async (name) => [name, await decoded(converter, fields![name]!)] as const);
  return Object.fromEntries(await Promise.all(values));
}

async function decoded(converter: LoadedDataConverter, payload: Payload): Promise<unknown> {
  try {
    const [value] = await decodeArrayFromPayloads(converter, [payload]);
    return value;
  } catch (error) {
    return unreadable(error);
  }
}

function unreadable(error: unknown): UnreadableField {
  const [line] = String((error as Error | undefined)?.message ?? error).split('\n', 1);
  return { longhaul: 'unreadable', reason: cutText(line!, REASON_BYTES) };
}

/** Lets a client describe workflows with such fields: replaces them before the SDK decodes the memo. */
export function readableMemos(dataConverter: DataConverter): WorkflowClientInterceptor {
  const converter = loadDataConverter(dataConverter);
  return {
    describe: async (input, next) => {
      const description = await next(input);
      const fields: Fields = description.workflowExecutionInfo?.memo?.fields;
      const memo = await readMemo(converter, fields, Object.keys(fields ?? {}));
      for (const [name, value] of Object.entries(memo))
        if (isUnreadable(value)) fields![name] = defaultPayloadConverter.toPayload(value);
      return description;
    },
  };
}

/** Names the fields of an operation's memo that can't be read, in one line; undefined if all can. */
export function memoProblem(memo: Memo | undefined): string | undefined {
  const reasons = OWN_FIELDS.flatMap((name) => {
    const value = memo?.[name];
    return isUnreadable(value) ? [`${name} (${value.reason})`] : [];
  });
  return reasons.length > 0 ? `its memo can't be read: ${reasons.join(', ')}` : undefined;
}
