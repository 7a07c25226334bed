/**
 * How values travel through Temporal: as JSON that its UI shows, except that anything over 256 KiB goes to storage
 * and leaves a claim in history. A value over 2 MiB that reached Temporal would end the run and lose its record.
 * It is the SDK's own external storage and not a codec, so that it happens outside the sandbox and once a task.
 */
import { createHash } from 'node:crypto';
import {
  ExternalStorage,
  StorageDriverClaim,
  type DataConverter,
  type Payload,
  type StorageDriver,
} from '@temporalio/common';
import proto from '@temporalio/proto';
import { LonghaulError } from '../operations/errors.js';
import { payloadKey } from './storage-keys.js';
import type { Storage } from './storage.js';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/** Size from which a value is offloaded, in bytes: 256 KiB. */
const OFFLOAD_BYTES = 256 * 1024;

/** The data converter that clients and workers share. */
export function dataConverterOf(storage: Storage): DataConverter {
  return {
    externalStorage: new ExternalStorage({
      drivers: [storageDriver(storage)],
      payloadSizeThreshold: OFFLOAD_BYTES,
    }),
  };
}

/** How old a stored value may be to count as stored again, in milliseconds: a sweep must not take it for abandoned. */
const FRESH_MS = 24 * 3600_000;

/** Values are stored under their workflow and hash, so that a repeated store (a replay, a retry) stores nothing new. */
function storageDriver(storage: Storage): StorageDriver {
  return {
    name: 'longhaul',
    type: 'longhaul.storage',
    store: ({ target }, payloads) =>
      Promise.all(
        payloads.map(async (payload) => {
          const bytes = PayloadMessage.encode(payload).finish();
          const key = payloadKey(
            target?.kind === 'workflow' ? target.id : undefined,
            createHash('sha256').update(bytes).digest('hex'),
          );
          const stored = await storage.about(key);
          if (!stored || Date.now() - stored.changedAt.getTime() > FRESH_MS) await storage.put(key, bytes);
          return new StorageDriverClaim({ key });
        }),
      ),
    retrieve: (_context, claims) =>
      Promise.all(
        claims.map(async ({ claimData }): Promise<Payload> =>
          PayloadMessage.decode(await readStored(storage, claimData['key'] ?? '')),
        ),
      ),
  };
}

/** What history points to and storage has lost is no unknown operation, but one that can't be read. */
async function readStored(storage: Storage, key: string): Promise<Buffer> {
  try {
    return await storage.read(key);
  } catch (error) {
    if (!(error instanceof LonghaulError && error.kind === 'not_found')) throw error;
    throw new LonghaulError('internal', `a large value of it is lost: ${error.message}`, { cause: error });
  }
}
