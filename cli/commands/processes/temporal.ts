import type { Command } from 'commander';
import { openHome } from '../../../platform/home/index.js';
import { runTemporal } from '../../../stack/temporal/alone.js';
import { print, say } from '../../console.js';
import { settingsOf, showSettings } from '../../settings-flags.js';

export function define(command: Command): void {
  showSettings(command, ['basics', 'temporal', 'records']);
  command.action(async () => {
    const settings = await settingsOf(command);
    openHome(settings.home, say);
    process.exit(await runTemporal(settings, print, say));
  });
}
