/** Copies large files. Node.js's own `copyFile` can't be cancelled, and fills holes of sparse files with zeros. */
import { constants } from 'node:fs';
import { copyFile as cloneFile, open, rm, type FileHandle } from 'node:fs/promises';

/** A read with only zeros becomes a hole. */
const READ_BYTES = 256 * 1024;
const ZEROS = Buffer.alloc(READ_BYTES);

/**
 * Copies a file to a new path, as a clone or with its holes. Leaves nothing if it fails.
 *
 * @throws the signal's reason, or a system error
 */
export async function copyFile(from: string, to: string, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const { COPYFILE_EXCL, COPYFILE_FICLONE_FORCE } = constants;
  const isCloned = await cloneFile(from, to, COPYFILE_EXCL | COPYFILE_FICLONE_FORCE).then(
    () => true,
    () => false,
  );
  if (isCloned) return;
  const target = await open(to, 'wx', 0o600);
  try {
    let end = 0;
    for await (const { bytes, at } of reads(from, signal)) {
      if (!isZero(bytes)) await write(target, bytes, at);
      end = at + bytes.length;
    }
    await target.truncate(end);
  } catch (error) {
    await rm(to, { force: true });
    throw error;
  } finally {
    await target.close();
  }
}

/** Whether a file has more than this number of zero bytes in long runs. Reads no further than needed. */
export async function hasMoreZeros(path: string, than: number, signal?: AbortSignal): Promise<boolean> {
  let zeros = 0;
  for await (const { bytes } of reads(path, signal))
    if (isZero(bytes) && (zeros += bytes.length) > than) return true;
  return false;
}

/** Reads a file into one reused buffer, up to its initial size: it may grow without end. */
async function* reads(path: string, signal?: AbortSignal): AsyncGenerator<{ bytes: Buffer; at: number }> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const buffer = Buffer.alloc(READ_BYTES);
    for (let at = 0; at < size;) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, Math.min(READ_BYTES, size - at), at);
      if (bytesRead === 0) return;
      yield { bytes: buffer.subarray(0, bytesRead), at };
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
}

function isZero(bytes: Buffer): boolean {
  return bytes.equals(ZEROS.subarray(0, bytes.length));
}

async function write(file: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length;)
    done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
}
