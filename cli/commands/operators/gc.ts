import type { Client } from '@temporalio/client';
import type { Command } from 'commander';
import { planWorkspaceSweep } from '../../../activities/pipeline/sweep.js';
import { openStorage } from '../../../platform/storage/index.js';
import { planTemporarySweep, type SweepItem } from '../../../platform/storage/sweep-plan.js';
import type { Settings } from '../../../platform/settings/index.js';
import { planStorageSweep } from '../../../worker/process/sweep-storage.js';
import { addJsonFlag, isJson } from '../../client/command.js';
import { print, printJson } from '../../console.js';
import { runOnTemporal } from '../../with-temporal.js';

const HELP = `
Removes now what the sweeps of a worker remove by themselves, every 10 minutes (workspaces, temporary files) or every 6 hours
(storage): artifacts, logs and large values of operations that Temporal no longer knows and that are unchanged for 30 days, texts
of old messages, workspaces of operations whose results are no longer kept, files that killed processes left unfinished. It
completes interrupted deletions. Data of open operations stays; without Temporal nothing is removed.`;

export function define(command: Command): void {
  addJsonFlag(command)
    .option('--dry-run', 'show what would be removed, and why; change nothing')
    .option('--verbose', 'also every key and path')
    .addHelpText('after', HELP);
  runOnTemporal(command, async (client, settings) => {
    const flags = command.opts<{ dryRun?: boolean; verbose?: boolean }>();
    const { dryRun: isDry = false, verbose = false } = flags;
    const json = isJson(command);
    const items: { kind: string; name: string; reason: string; bytes: number; keys: string[] }[] = [];
    for await (const item of plan(client, settings, isDry)) {
      const { kind, name, reason, keys } = item;
      const bytes = await item.bytes();
      if (!isDry) await item.remove();
      items.push({ kind, name, reason, bytes, keys });
      if (json) continue;
      print(`${kind} ${name}: ${reason} (${megabytes(bytes)})`);
      if (verbose) for (const key of keys) print(`  ${key}`);
    }
    const totals = [...new Set(items.map(({ kind }) => kind))].map((kind) => {
      const own = items.filter((item) => item.kind === kind);
      return { kind, count: own.length, bytes: own.reduce((sum, { bytes }) => sum + bytes, 0) };
    });
    if (json) {
      const shown = verbose ? items : items.map(({ keys: _keys, ...rest }) => rest);
      return printJson({ dryRun: isDry, totals, items: shown });
    }
    if (totals.length === 0) print(`nothing to remove in ${settings.home}`);
    for (const { kind, count, bytes } of totals)
      print(`${isDry ? 'would remove' : 'removed'} ${count} of ${kind}, ${megabytes(bytes)}`);
  });
}

/** Everything that the sweeps remove. */
async function* plan(client: Client, settings: Settings, isDry: boolean): AsyncGenerator<SweepItem> {
  const { home } = settings;
  const storage = openStorage(settings);
  const now = Date.now();
  yield* planStorageSweep(storage, client, now, isDry);
  yield* planWorkspaceSweep(home, storage, client, undefined, isDry);
  yield* planTemporarySweep(home, now);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(2)} MiB`;
}
