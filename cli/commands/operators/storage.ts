import type { Client } from '@temporalio/client';
import type { Command } from 'commander';
import { checkStorage, openStorage, storageErrorIn, storageName } from '../../../platform/storage/index.js';
import type { Settings } from '../../../platform/settings/index.js';
import { addJsonFlag, isJson, runReporting } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import { print, printJson } from '../../console.js';
import { checkNamedValues, checkStorageOfWorkers } from '../../doctor/storage-check.js';
import { CommandFailure } from '../../failure.js';
import { settingsOf } from '../../settings-flags.js';
import { withTemporal } from '../../with-temporal.js';

const HELP = `
--operations connects to Temporal, reads the histories of all workflows, open and kept, and looks for each value that they name, for
example after storage was copied. It also says whether the workers use this storage. It ends with 1 if a value is lost or a worker uses
another storage.
`;

export function define(storage: Command): void {
  const check = addJsonFlag(storage.command('check'))
    .description('write a value, read it back, create it once only, list it and delete it')
    .option('--operations', 'also look for each large value that open and kept operations name')
    .addHelpText('after', HELP);
  runReporting(check, async () => {
    const settings = await settingsOf(check);
    if (!check.opts<{ operations?: boolean }>().operations) return runCheck(check, settings);
    await withTemporal(settings, (client) => runCheck(check, settings, client));
  });
}

async function runCheck(command: Command, settings: Settings, client?: Client): Promise<void> {
  const name = storageName(settings);
  const storage = openStorage(settings);
  const examine = async () => ({
    ...(await checkStorage(storage, name)),
    ...(client && {
      workers: await checkStorageOfWorkers(client, settings),
      named: await checkNamedValues(client, storage),
    }),
  });
  const checked = await examine().catch((error: unknown) => {
    const trouble = storageErrorIn(error);
    if (!trouble) throw error;
    throw new CommandFailure(trouble.message, trouble.retryable ? EXIT.unreachable : EXIT.failed);
  });
  const { id, ms, workers = [], named } = checked;
  if (isJson(command)) printJson({ storage: name, id, ms, ...(named && { workers, ...named }) });
  else {
    print(`${name}: storage ${id} works; checked in ${ms} ms`);
    for (const { check, detail } of workers) print(`${check}: ${detail}`);
    if (named)
      print(`${named.runs} runs of workflows name ${named.values} large values; lost: ${named.lost.length}`);
    for (const { workflowId, key } of named?.lost ?? []) print(`lost, of ${workflowId}: ${key}`);
  }
  if (named?.lost.length || workers.some(({ status }) => status === 'fail')) process.exitCode = EXIT.failed;
}
