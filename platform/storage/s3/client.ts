/** Clients of S3 with a time limit for every attempt. */
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import type { StorageSettings } from '../name.js';

const CONNECT_LIMIT_MS = 2_000;
/** Time-out of an attempt with a small body, until the answer begins. */
export const ATTEMPT_LIMIT_MS = 5_000;
/** Time-out of an attempt with a part of a large file: 8 MiB over 1.5 Mbit/s. */
const UPLOAD_ATTEMPT_LIMIT_MS = 45_000;
/** Time without any byte before a connection is dropped. */
const IDLE_LIMIT_MS = 8_000;
/** Pauses between attempts stay near 100 ms, with jitter. Callers wait and repeat beyond that. */
const MAX_ATTEMPTS = 3;

interface S3Clients {
  /** For everything except large files. */
  client: S3Client;
  /** For parts of large files. */
  uploads: S3Client;
}

/** Makes the clients. Credentials come from the SDK's default chain: environment, profiles, web identity, roles. */
export function createClients(settings: Partial<StorageSettings>): S3Clients {
  const { storageEndpoint, storageRegion } = settings;
  const config: S3ClientConfig = {
    ...(storageEndpoint === undefined ? {} : { endpoint: storageEndpoint, forcePathStyle: true }),
    ...(storageRegion === undefined ? {} : { region: storageRegion }),
    maxAttempts: MAX_ATTEMPTS,
    retryMode: 'standard',
  };
  const clientWith = (requestTimeout: number) =>
    new S3Client({
      ...config,
      requestHandler: {
        connectionTimeout: CONNECT_LIMIT_MS,
        requestTimeout,
        throwOnRequestTimeout: true,
        socketTimeout: IDLE_LIMIT_MS,
      },
    });
  return { client: clientWith(ATTEMPT_LIMIT_MS), uploads: clientWith(UPLOAD_ATTEMPT_LIMIT_MS) };
}
