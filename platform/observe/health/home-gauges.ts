/** Gauges of the home's disk, its storage folder and the readiness checks. A scrape refreshes them in the background. */
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { contentSize } from '../../home/disk.js';
import { gauge, onScrape } from '../metrics/index.js';
import { Background } from '../metrics/background.js';
import type { Checks, ReadinessBody } from './checks.js';

const DISK_INTERVAL_MS = 10_000;
const READINESS_INTERVAL_MS = 15_000;
/** Interval of walks through storage, each of which looks at every file. */
const SIZE_INTERVAL_MS = 600_000;

/** @returns a function that ends them */
export function registerHomeGauges(
  { home, storage }: { home: string; storage: string },
  readiness: () => Promise<ReadinessBody>,
): () => void {
  const disk = new Background(DISK_INTERVAL_MS, () => statfs(home));
  // A bucket has its own metrics, and a walk through it would cost requests.
  const size =
    storage === 'folder'
      ? new Background(SIZE_INTERVAL_MS, () => contentSize(join(home, 'storage')))
      : undefined;
  const checks = new Background<Checks>(READINESS_INTERVAL_MS, async () => (await readiness()).checks);
  const ends = [
    onScrape(() => [disk, size, checks].forEach((one) => one?.refresh())),
    gauge('longhaul_home_disk_free_bytes', () => disk.map(({ bavail, bsize }) => [[{}, bavail * bsize]])),
    gauge('longhaul_home_disk_size_bytes', () => disk.map(({ blocks, bsize }) => [[{}, blocks * bsize]])),
    gauge('longhaul_storage_size_bytes', () => size?.map(({ bytes }) => [[{}, bytes]]) ?? []),
    gauge('longhaul_ready', () =>
      checks.map((all) =>
        Object.entries(all).map(([check, { status }]) => [{ check }, status === 'ok' ? 1 : 0]),
      ),
    ),
  ];
  return () => ends.forEach((end) => end());
}
