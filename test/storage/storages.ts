/** A real S3 server, storages in its bucket and in folders. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStorage, type Storage } from '../../platform/storage/index.js';
import { S3Server } from '../support/s3-server.js';

export class Storages {
  readonly folder = mkdtempSync(join(tmpdir(), 'longhaul-storage-'));
  readonly #before = { ...process.env };

  private constructor(readonly s3: S3Server) {
    this.useCredentials();
  }

  static async start(): Promise<Storages> {
    return new Storages(await S3Server.start('values'));
  }

  /** Sets the variables of the server's user. */
  useCredentials(): void {
    Object.assign(process.env, this.s3.environment('s3://values'));
  }

  /** A storage of its own in the bucket. */
  bucket(settings: object = {}, prefix: string = randomUUID()): Storage {
    return openStorage({
      home: this.folder,
      storage: `s3://values/${prefix}`,
      storageEndpoint: this.s3.endpoint,
      storageRegion: 'us-east-1',
      ...settings,
    });
  }

  /** A storage in a folder of its own. */
  inFolder(): Storage {
    return openStorage({ home: join(this.folder, randomUUID()) });
  }

  /** Path of a new file with this content. */
  file(bytes: Uint8Array): string {
    const path = join(this.folder, randomUUID());
    writeFileSync(path, bytes);
    return path;
  }

  async stop(): Promise<void> {
    process.env = this.#before;
    await this.s3.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
