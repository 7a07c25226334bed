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
import { LRUCache } from 'lru-cache';
import { isKind } from '../../operations/errors.js';
import { STORED_METADATA } from '../../operations/wire/index.js';
import { CHILDREN_MEMO, type StoredClaim } from '../../operations/wire/state.js';
import { payloadKey } from '../storage/keys.js';
import { isStorageWait, LostValueError, type Storage } from '../storage/index.js';

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
          return new StorageDriverClaim({ key: await store(storage, encodedValue(workflowId, payload)) });
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
  const stored = new StoredValues(storage);
  return {
    encode: (payloads, context) =>
      Promise.all(
        payloads.map(async (payload) => {
          const mark = payload.metadata?.[STORED_METADATA];
          if (!mark) return payload;
          const workflowId = context?.type === 'workflow' ? context.workflowId : undefined;
          const field = JSON.parse(Buffer.from(mark).toString()) as string;
          return defaultPayloadConverter.toPayload(await stored.claim(workflowId, field, payload));
        }),
      ),
    decode: (payloads) => Promise.resolve(payloads),
  };
}

/** Number of values that may wait for storage, and of claims to remember. */
const WAITING_VALUES = 100;
const REMEMBERED_CLAIMS = 1_000;
const STORE_AGAIN_MS = 2_000;

/**
 * Stores values of memos. No workflow waits for it: while storage is away, a value's claim names the value before too, and the value is
 * stored later. A closing operation's children are the exception, because nothing else has them.
 */
class StoredValues {
  /** Workflow ID and memo key -> key of the last stored value. */
  readonly #last = new LRUCache<string, string>({ max: REMEMBERED_CLAIMS });
  readonly #waiting = new Map<string, () => Promise<unknown>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly storage: Storage) {}

  /** @throws StorageError for children, while storage is away */
  async claim(workflowId: string | undefined, field: string, payload: Payload): Promise<StoredClaim> {
    const slot = `${workflowId ?? ''}\n${field}`;
    const value = encodedValue(workflowId, payload);
    const claim: StoredClaim = { longhaul: 'stored', key: value.key, bytes: payload.data?.length ?? 0 };
    const write = async () => {
      await store(this.storage, value);
      this.#last.set(slot, value.key);
    };
    try {
      await write();
      this.#waiting.delete(slot);
      return claim;
    } catch (error) {
      if (field === CHILDREN_MEMO || !isStorageWait(error)) throw error;
      const before = this.#last.get(slot);
      this.#storeLater(slot, write);
      return { ...claim, ...(before === undefined ? {} : { before }) };
    }
  }

  #storeLater(slot: string, write: () => Promise<void>): void {
    this.#waiting.delete(slot);
    this.#waiting.set(slot, write);
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > WAITING_VALUES) this.#waiting.delete(oldest!);
    this.#timer ??= setInterval(() => void this.#storeWaiting(), STORE_AGAIN_MS).unref();
  }

  async #storeWaiting(): Promise<void> {
    for (const [slot, write] of [...this.#waiting]) {
      try {
        await write();
      } catch {
        return; // Still away.
      }
      if (this.#waiting.get(slot) === write) this.#waiting.delete(slot);
    }
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** Reads the value of a claim, or the one before if it never got to storage. @throws LonghaulError `internal` if storage has neither */
export async function readStored(storage: Storage, { key, before }: StoredClaim): Promise<unknown> {
  const read = async (stored: string) => {
    const payload = await retrieve(storage, stored);
    try {
      return defaultPayloadConverter.fromPayload<unknown>(payload);
    } catch (error) {
      throw new LostValueError(`a large value of it is damaged: ${(error as Error).message}`, {
        cause: error,
      });
    }
  };
  return read(key).catch((error: unknown) => {
    if (before === undefined || !(error instanceof LostValueError)) throw error;
    return read(before);
  });
}

/** Metadata type of the SDK's references to stored values. */
const REFERENCE_TYPE = 'temporal.api.sdk.v1.ExternalStorageReference';
const CLAIM_BEGINNING = '{"longhaul":"stored"';
/** Key in a reference or a claim. Keys never contain characters that JSON escapes. */
const STORED_KEYS = /"(?:key|before)":"(payloads\/[^"\\]+)"/g;

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
  if (isReference || text.startsWith(CLAIM_BEGINNING))
    for (const [, key] of text.matchAll(STORED_KEYS)) keys.add(key!);
  return keys;
}

interface EncodedValue {
  key: string;
  bytes: Uint8Array;
}

/** The key combines workflow ID and hash, so a replay or a retry stores nothing new. */
function encodedValue(workflowId: string | undefined, payload: Payload): EncodedValue {
  const bytes = PayloadMessage.encode(payload).finish();
  return { key: payloadKey(workflowId, createHash('sha256').update(bytes).digest('hex')), bytes };
}

async function store(storage: Storage, { key, bytes }: EncodedValue): Promise<string> {
  return counted(storage, async () => {
    const stored = await storage.about(key);
    if (!stored || Date.now() - stored.changedAt.getTime() > FRESH_MS) await storage.put(key, bytes);
    return key;
  });
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
