import type { Command } from 'commander';
import { checkReadable } from '../../../platform/home/index.js';
import { isJson, withErrorReporting } from '../../client/command.js';
import { print, printJson, say } from '../../console.js';
import { settingsOf } from '../../settings-flags.js';

const HELP = `
Copies a home while its stack runs or after it has ended: the embedded Temporal's database, storage, workspaces, journals and the
secret. The backup contains the secret: keep it as private as the home. docs/backup.md has more, also on Temporals of your
own.

  longhaul backup longhaul-2026-11-25.tar.gz
  longhaul restore longhaul-2026-11-25.tar.gz --home /srv/longhaul`;

export function define(command: Command): void {
  command
    .argument('<target>', 'new file, .tar.gz, or new folder')
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', HELP);
  command.action((target: string) =>
    withErrorReporting(command, async () => {
      const settings = await settingsOf(command);
      checkReadable(settings.home);
      process.umask(0o077);
      const { backupBytes, createBackup } = await import('../../../stack/backup/create.js');
      const manifest = await createBackup(settings, target, say);
      const bytes = await backupBytes(target);
      if (isJson(command)) return printJson({ target, targetBytes: bytes, ...manifest });
      const { files, hasSecret } = manifest;
      print(`${target}: ${files} files of ${settings.home}, ${(bytes / 1024 ** 2).toFixed(1)} MiB`);
      say(
        hasSecret
          ? 'It has the secret, results and logs of the home: keep it private.'
          : 'It has no secret: keep LONGHAUL_SECRET apart, or sessions, cursors and signatures are invalid after a restore.',
      );
    }),
  );
}
