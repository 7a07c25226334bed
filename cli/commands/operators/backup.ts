import type { Command } from 'commander';
import { checkReadable } from '../../../platform/home/index.js';
import { backupBytes, createBackup } from '../../../stack/backup/create.js';
import { addJsonFlag, isJson, printOutput, runReporting } from '../../client/command.js';
import { say } from '../../console.js';
import { settingsOf } from '../../settings-flags.js';

const HELP = `
Copies a home while its stack runs or after it has ended: the embedded Temporal's database, storage, workspaces, journals and the
secret. The backup contains the secret: keep it as private as the home. docs/backup.md has more, also on Temporals of your
own.

  longhaul backup longhaul-2026-11-25.tar.gz
  longhaul restore longhaul-2026-11-25.tar.gz --home /srv/longhaul`;

export function define(command: Command): void {
  addJsonFlag(command).argument('<target>', 'new file, .tar.gz, or new folder').addHelpText('after', HELP);
  runReporting(command, async (target: string) => {
    const settings = await settingsOf(command);
    checkReadable(settings.home);
    process.umask(0o077);
    const manifest = await createBackup(settings, target, say);
    const bytes = await backupBytes(target);
    const size = `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
    printOutput(
      command,
      { target, targetBytes: bytes, ...manifest },
      () => `${target}: ${manifest.files} files of ${settings.home}, ${size}`,
    );
    if (isJson(command)) return;
    say(
      manifest.hasSecret
        ? 'It has the secret, results and logs of the home: keep it private.'
        : 'It has no secret: keep LONGHAUL_SECRET apart, or sessions, cursors and signatures are invalid after a restore.',
    );
  });
}
