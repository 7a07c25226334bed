import type { Command } from 'commander';
import { openHome } from '../../platform/home.js';
import { print, say } from '../console.js';
import { settingsOf } from '../settings-flags.js';

/** `longhaul temporal`. */
export function registerTemporal(program: Command): void {
  program
    .command('temporal')
    .description('run the embedded Temporal alone, in the foreground')
    .action(async (_flags: unknown, command: Command) => {
      const [settings, { runTemporal }] = await Promise.all([
        settingsOf(command),
        import('../../stack/temporal-alone.js'),
      ]);
      openHome(settings.home, say);
      process.exit(await runTemporal(settings, print, say));
    });
}
