/** Artifacts: files that an operation has left in storage. */
import type { Readable } from 'node:stream';
import { LonghaulError } from '../../operations/errors.js';
import { artifactKey, artifactNameIn, artifactPrefix } from '../../platform/storage/keys.js';
import type { Storage } from '../../platform/storage/index.js';

export interface StoredFile {
  sizeBytes: number;
  /** Changes whenever the bytes do; safe in an entity tag. */
  version: string;
  stream(range: { from: number; lengthBytes: number }): Promise<Readable>;
}

/** Reads an artifact whole. @throws LonghaulError `not_found`, `too_large` over the limit */
export async function readArtifact(
  storage: Storage,
  workflowId: string,
  name: string,
  limitBytes: number,
): Promise<Buffer> {
  const key = artifactKey(workflowId, name);
  const bytes = (await storage.size(key)) ?? 0;
  if (bytes > limitBytes)
    throw new LonghaulError(
      'too_large',
      `artifact ${name}: ${bytes} bytes; at most ${limitBytes} are sent at once`,
    );
  return storage.read(key);
}

export async function listArtifacts(
  storage: Storage,
  workflowId: string,
): Promise<{ name: string; bytes: number }[]> {
  const found: { name: string; bytes: number }[] = [];
  for await (const { key, sizeBytes: bytes } of storage.list(artifactPrefix(workflowId))) {
    const name = artifactNameIn(key);
    if (name !== undefined) found.push({ name, bytes });
  }
  return found.sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Opens an artifact for streaming. @throws LonghaulError `not_found` */
export async function openArtifact(storage: Storage, workflowId: string, name: string): Promise<StoredFile> {
  const key = artifactKey(workflowId, name);
  const about = await storage.about(key);
  if (!about) throw new LonghaulError('not_found', `the operation has left no file ${JSON.stringify(name)}`);
  return { ...about, stream: (range) => storage.stream(key, range) };
}
