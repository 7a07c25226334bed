import type { Command } from 'commander';
import { openHome } from '../../../platform/home/index.js';
import { print, say } from '../../console.js';
import { settingsOf, showSettings } from '../../settings-flags.js';

export function define(command: Command): void {
  showSettings(command);
  command.action(async () => {
    const [settings, { assertServable }, { up }] = await Promise.all([
      settingsOf(command),
      import('../../../platform/settings/conflicts.js'),
      import('../../../stack/up.js'),
    ]);
    assertServable(settings);
    openHome(settings.home, say);
    process.exit(await up(settings, print, say));
  });
}
