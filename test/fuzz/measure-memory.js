/** Preloaded into the server: on SIGUSR2 it collects garbage and writes its memory, in bytes, to the file that the environment names. */
import { renameSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers';
import { isMainThread } from 'node:worker_threads';

const path = process.env.LONGHAUL_FUZZ_MEMORY_FILE;
if (isMainThread && path)
  process.on('SIGUSR2', () => {
    globalThis.gc();
    // A second run, after the finalizers of the first.
    setTimeout(() => {
      globalThis.gc();
      const { rss, heapUsed, external } = process.memoryUsage();
      writeFileSync(`${path}.part`, JSON.stringify({ rss, used: heapUsed + external }));
      renameSync(`${path}.part`, path);
    }, 200);
  });
