import type { Command } from 'commander';
import { assertServable } from '../../platform/config.js';
import { openHome } from '../../platform/home.js';
import { print, say } from '../console.js';
import { settingsOf } from '../settings-flags.js';

/** `longhaul up`. */
export function registerUp(program: Command): void {
  program
    .command('up')
    .description('run the whole stack: Temporal (unless TEMPORAL_ADDRESS names one), worker and MCP server')
    .action(async (_flags: unknown, command: Command) => {
      const [settings, { up }] = await Promise.all([settingsOf(command), import('../../stack/up.js')]);
      assertServable(settings);
      openHome(settings.home, say);
      process.exit(await up(settings, print, say));
    });
}
