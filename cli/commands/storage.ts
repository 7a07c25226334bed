import { join } from 'node:path';
import { Option, type Command } from 'commander';
import type { Settings } from '../../platform/settings/index.js';
import type { StorageChoice } from '../../platform/storage/index.js';
import { isJson, withErrorReporting } from '../client/command.js';
import { EXIT } from '../client/exit-codes.js';
import { print, printJson, say } from '../console.js';
import { CommandFailure } from '../failure.js';
import { settingsOf } from '../settings-flags.js';

const HELP = `
move copies every value from one storage to another, reads each copy back, and leaves the source as it is. Run it while the stack
runs, for most of the data; then end all servers and workers, run it again for the rest, and start them with the new --storage.
An interrupted move continues where it was. --delete-source deletes, at the end, what has an equal copy: only once no process
uses the source any more.
`;

/** Pause between two lines about the progress, in milliseconds. */
const PROGRESS_MS = 5_000;

/** `longhaul storage check` and `longhaul storage move`. */
export function define(storage: Command): void {
  const check = storage
    .command('check')
    .description('write a value, read it back, create it once only, list it and delete it')
    .option('--json', 'print JSON, for programs');
  check.action(() =>
    withErrorReporting(
      check,
      () => undefined,
      async () => {
        const settings = await settingsOf(check);
        const [{ openStorage, storageName, storageErrorIn }, { checkStorage }] = await Promise.all([
          import('../../platform/storage/index.js'),
          import('../../platform/storage/check.js'),
        ]);
        const name = storageName(settings);
        const result = await checkStorage(openStorage(settings), name).catch((error: unknown) => {
          const trouble = storageErrorIn(error);
          if (!trouble) throw error;
          throw new CommandFailure(trouble.message, trouble.retryable ? EXIT.unreachable : EXIT.failed);
        });
        if (isJson(check)) printJson({ storage: name, ...result });
        else print(`${name}: storage ${result.id} works; checked in ${result.ms} ms`);
      },
    ),
  );
  const move = storage
    .command('move')
    .description('copy everything to another storage')
    .addOption(new Option('--from <folder|url>', 'source').default(undefined, 'the one of the settings'))
    .requiredOption('--to <folder|url>', 'destination: folder (in the home), or s3://bucket/prefix')
    .option('--delete-source', 'delete what has an equal copy: no process may use the source any more')
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', HELP);
  move.action(() =>
    withErrorReporting(
      move,
      () => undefined,
      async () => {
        const options = move.opts<{ from?: string; to: string; deleteSource?: boolean }>();
        await runMove(await settingsOf(move), options, isJson(move));
      },
    ),
  );
}

async function runMove(
  settings: Settings,
  options: { from?: string; to: string; deleteSource?: boolean },
  json: boolean,
): Promise<void> {
  const [{ SettingsError }, { openStorage, storageName }, { copyStorage, deleteCopied }] = await Promise.all([
    import('../../platform/settings/index.js'),
    import('../../platform/storage/index.js'),
    import('../../platform/storage/move.js'),
  ]);
  const choices = [
    await choiceOf(settings, '--from', options.from ?? settings.storage),
    await choiceOf(settings, '--to', options.to),
  ] as const;
  const [source, destination] = [storageName(choices[0]), storageName(choices[1])];
  if (source === destination)
    throw new SettingsError(
      `--to: expected another storage than the source, which is ${source}; got the same`,
    );
  const [from, to] = [openStorage(choices[0]), openStorage(choices[1])];
  let saidMs = performance.now();
  const counts = await copyStorage({
    ...{ from, to, folder: join(settings.home, 'moving') },
    onProgress({ found, copied, copiedBytes }) {
      if (performance.now() - saidMs < PROGRESS_MS) return;
      saidMs = performance.now();
      say(`${found} values so far: ${copied} copied, ${megabytes(copiedBytes)} MB`);
    },
  });
  const deleted = options.deleteSource ? await deleteCopied({ from, to }) : undefined;
  if (json) printJson({ from: source, to: destination, ...counts, ...deleted });
  else {
    print(
      `${counts.found} values in ${source}: ${counts.copied} copied and verified (${megabytes(counts.copiedBytes)} MB), ` +
        `${counts.present} were in ${destination} already`,
    );
    for (const key of counts.newer) print(`kept at the destination, where it is newer: ${key}`);
    if (deleted) print(`${deleted.deleted} deleted from ${source}`);
    else print(`${source} is unchanged.`);
    for (const key of deleted?.kept ?? []) print(`not deleted, since the copy differs: ${key}`);
    print(
      `Servers and workers use the storage of their settings until they are started again with --storage ${options.to}. ` +
        'Run this command again once they have ended: it copies what they have stored since.',
    );
  }
  if (deleted?.kept.length) process.exitCode = EXIT.failed;
}

/** @throws SettingsError for a value of the flag that is no storage */
async function choiceOf(settings: Settings, flag: string, storage: string): Promise<StorageChoice> {
  const [{ SettingsError }, { storageSettingsShape }] = await Promise.all([
    import('../../platform/settings/index.js'),
    import('../../platform/settings/storage.js'),
  ]);
  const parsed = storageSettingsShape.storage.safeParse(storage);
  if (!parsed.success)
    throw new SettingsError(`${flag}: ${parsed.error.issues[0]!.message}; got ${JSON.stringify(storage)}`);
  return { ...settings, storage };
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
