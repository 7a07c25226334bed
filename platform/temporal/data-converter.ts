/**
 * The data converter. Values are JSON, which Temporal's UI shows. A value over 256 KiB goes to storage and leaves a claim in
 * history, because over 2 MiB it would end the run and lose its record. The SDK's external storage runs outside the sandbox, once
 * per task, unlike a codec.
 */
import { createHash } from 'node:crypto';
import {
  defaultPayloadConverter,
  ExternalStorage,
  StorageDriverClaim,
  type DataConverter,
  type Payload,
  type PayloadCodec,
  type StorageDriver,
} from '@temporalio/common';
import proto from '@temporalio/proto';
import { isKind } from '../../operations/errors.js';
import { STORED_METADATA, type StoredClaim } from '../../operations/wire/index.js';
import { payloadKey } from '../storage/keys.js';
import { LostValueError, type Storage } from '../storage/index.js';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

const OFFLOAD_BYTES = 256 * 1024;

/** The data converter that clients and workers share. @param codec further codec, see {@link decodingOnly}. Default: none */
export function dataConverterOf(storage: Storage, codec?: PayloadCodec): DataConverter {
  return {
    payloadCodecs: [storedPayloads(storage), ...(codec ? [codec] : [])],
    externalStorage: new ExternalStorage({
      drivers: [storageDriver(storage)],
      payloadSizeThreshold: OFFLOAD_BYTES,
    }),
  };
}

/** Younger values aren't rewritten. Older ones are, so that no sweep treats them as abandoned. */
const FRESH_MS = 24 * 3600_000;

function storageDriver(storage: Storage): StorageDriver {
  return {
    name: 'longhaul',
    type: 'longhaul.storage',
    store: ({ target }, payloads) =>
      Promise.all(
        payloads.map(async (payload) => {
          const workflowId = target?.kind === 'workflow' ? target.id : undefined;
          return new StorageDriverClaim({ key: await store(storage, workflowId, payload) });
        }),
      ),
    retrieve: (_context, claims) =>
      Promise.all(claims.map(({ claimData }) => retrieve(storage, claimData['key'] ?? ''))),
  };
}

/**
 * Stores payloads that the workflow marked, and leaves a {@link StoredClaim}, plain JSON. Don't put the SDK's references into a
 * memo: each describe and list would read the values, and fail where one is lost or the client has no storage.
 */
function storedPayloads(storage: Storage): PayloadCodec {
  return {
    encode: (payloads, context) =>
      Promise.all(
        payloads.map(async (payload) => {
          if (!payload.metadata?.[STORED_METADATA]) return payload;
          const workflowId = context?.type === 'workflow' ? context.workflowId : undefined;
          const claim: StoredClaim = { longhaul: 'stored', key: await store(storage, workflowId, payload) };
          return defaultPayloadConverter.toPayload(claim);
        }),
      ),
    decode: (payloads) => Promise.resolve(payloads),
  };
}

/** Reads the value of a claim. @throws LonghaulError `internal` if storage no longer has it */
export async function readStored(storage: Storage, { key }: StoredClaim): Promise<unknown> {
  return defaultPayloadConverter.fromPayload(await retrieve(storage, key));
}

/** Metadata type of the SDK's references to stored values. */
const REFERENCE_TYPE = 'temporal.api.sdk.v1.ExternalStorageReference';
const CLAIM_BEGINNING = '{"longhaul":"stored"';
/** Key in a reference or a claim. Keys never contain characters that JSON escapes. */
const STORED_KEY = /"key":"(payloads\/[^"\\]+)"/;

/** Keys of the stored values that a Temporal message names, e.g. a history. */
export function storedKeysIn(message: unknown, keys = new Set<string>()): Set<string> {
  if (typeof message !== 'object' || message === null || ArrayBuffer.isView(message)) return keys;
  const { metadata, data } = message as Payload;
  if (!metadata || !data) {
    for (const field of Object.values(message)) storedKeysIn(field, keys);
    return keys;
  }
  const text = Buffer.from(data).toString();
  const type = metadata['messageType'];
  const isReference = type && Buffer.from(type).toString() === REFERENCE_TYPE;
  const key = isReference || text.startsWith(CLAIM_BEGINNING) ? STORED_KEY.exec(text)?.[1] : undefined;
  if (key !== undefined) keys.add(key);
  return keys;
}

/** The key combines workflow ID and hash, so a replay or a retry stores nothing new. @returns the key */
async function store(storage: Storage, workflowId: string | undefined, payload: Payload): Promise<string> {
  return counted(storage, () => storeValue(storage, workflowId, payload));
}

async function storeValue(
  storage: Storage,
  workflowId: string | undefined,
  payload: Payload,
): Promise<string> {
  const bytes = PayloadMessage.encode(payload).finish();
  const key = payloadKey(workflowId, createHash('sha256').update(bytes).digest('hex'));
  const stored = await storage.about(key);
  if (!stored || Date.now() - stored.changedAt.getTime() > FRESH_MS) await storage.put(key, bytes);
  return key;
}

/** A lost value makes its operation unreadable (`internal`), not unknown (`not_found`). */
async function retrieve(storage: Storage, key: string): Promise<Payload> {
  try {
    return PayloadMessage.decode(await counted(storage, () => storage.read(key)));
  } catch (error) {
    if (!isKind(error, 'not_found')) throw error;
    throw new LostValueError(`a large value of it is lost: ${error.message}`, { cause: error });
  }
}

/** Large values that the process is writing to or reading from each storage. */
const underWay = new WeakMap<Storage, number>();

async function counted<T>(storage: Storage, work: () => Promise<T>): Promise<T> {
  const add = (count: number) => underWay.set(storage, (underWay.get(storage) ?? 0) + count);
  add(1);
  try {
    return await work();
  } finally {
    add(-1);
  }
}

/** Whether a call of Temporal's client may be waiting for storage. */
export function waitsForStorage(storage: Storage): boolean {
  return (underWay.get(storage) ?? 0) > 0;
}
