import type { Command } from 'commander';
import { isJson, withErrorReporting } from '../../client/command.js';
import { print, printJson, say } from '../../console.js';
import { settingsOf } from '../../settings-flags.js';

export function define(command: Command): void {
  command
    .argument('<backup>', 'file or folder made by longhaul backup')
    .option('--force', 'replace a home that is not empty; it is kept beside the new one')
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', '\nThe home is the one of --home, else of LONGHAUL_HOME, else ~/.longhaul.\n');
  command.action((backup: string) =>
    withErrorReporting(command, async () => {
      const { home } = await settingsOf(command);
      process.umask(0o077);
      const { restoreBackup } = await import('../../../stack/backup/restore.js');
      const { force = false } = command.opts<{ force?: boolean }>();
      const manifest = await restoreBackup(backup, home, force, say);
      if (isJson(command)) return printJson({ ...manifest, restoredTo: home });
      const { createdAt, files, temporal } = manifest;
      print(
        `${home}: ${files} files, as of ${createdAt}${temporal === undefined ? '' : `, for Temporal ${temporal}`}`,
      );
      say('Start it only where the original no longer runs: both would do the work that was open.');
    }),
  );
}
