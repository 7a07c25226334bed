import type { Client } from '@temporalio/client';
import type { Command } from 'commander';
import type { Settings } from '../../../platform/settings/index.js';
import { isJson, withErrorReporting } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import { print, printJson } from '../../console.js';
import { CommandFailure } from '../../failure.js';
import { settingsOf } from '../../settings-flags.js';
import { withTemporal } from '../../with-temporal.js';

const HELP = `
--operations connects to Temporal, reads the histories of all workflows, open and kept, and looks for each value that they name, for
example after storage was copied. It also says whether the workers use this storage. It ends with 1 if a value is lost or a worker uses
another storage.
`;

export function define(storage: Command): void {
  const check = storage
    .command('check')
    .description('write a value, read it back, create it once only, list it and delete it')
    .option('--operations', 'also look for each large value that open and kept operations name')
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', HELP);
  check.action(() =>
    check.opts<{ operations?: boolean }>().operations
      ? withTemporal(check, (client, settings) => runCheck(check, settings, client))
      : withErrorReporting(check, async () => runCheck(check, await settingsOf(check))),
  );
}

async function runCheck(command: Command, settings: Settings, client?: Client): Promise<void> {
  const [{ checkStorage, openStorage, storageName, storageErrorIn }, operations] = await Promise.all([
    import('../../../platform/storage/index.js'),
    import('../../doctor/storage-check.js'),
  ]);
  const name = storageName(settings);
  const storage = openStorage(settings);
  const examine = async () => ({
    ...(await checkStorage(storage, name)),
    ...(client && {
      workers: await operations.checkStorageOfWorkers(client, settings),
      named: await operations.checkNamedValues(client, storage),
    }),
  });
  const {
    id,
    ms,
    workers = [],
    named,
  } = await examine().catch((error: unknown) => {
    const trouble = storageErrorIn(error);
    if (!trouble) throw error;
    throw new CommandFailure(trouble.message, trouble.retryable ? EXIT.unreachable : EXIT.failed);
  });
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
