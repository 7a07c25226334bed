import type { Command } from 'commander';
import { restoreBackup } from '../../../stack/backup/restore.js';
import { addJsonFlag, isJson, printOutput, runReporting } from '../../client/command.js';
import { say } from '../../console.js';
import { settingsOf } from '../../settings-flags.js';

const HELP = '\nThe home is the one of --home, else of LONGHAUL_HOME, else ~/.longhaul.\n';

export function define(command: Command): void {
  addJsonFlag(command)
    .argument('<backup>', 'file or folder made by longhaul backup')
    .option('--force', 'replace a home that is not empty; it is kept beside the new one')
    .addHelpText('after', HELP);
  runReporting(command, async (backup: string) => {
    const { home } = await settingsOf(command);
    process.umask(0o077);
    const { force = false } = command.opts<{ force?: boolean }>();
    const manifest = await restoreBackup(backup, home, force, say);
    const { createdAt, files, temporal } = manifest;
    const made = temporal === undefined ? '' : `, for Temporal ${temporal}`;
    printOutput(
      command,
      { ...manifest, restoredTo: home },
      () => `${home}: ${files} files, as of ${createdAt}${made}`,
    );
    if (!isJson(command))
      say('Start it only where the original no longer runs: both would do the work that was open.');
  });
}
