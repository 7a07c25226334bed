import type { Command } from 'commander';
import { openHome } from '../../../platform/home/index.js';
import { assertServable } from '../../../platform/settings/conflicts.js';
import { up } from '../../../stack/up.js';
import { print, say } from '../../console.js';
import { settingsOf, showSettings } from '../../settings-flags.js';

export function define(command: Command): void {
  showSettings(command);
  command.action(async () => {
    const settings = await settingsOf(command);
    assertServable(settings);
    openHome(settings.home, say);
    process.exit(await up(settings, print, say));
  });
}
