import type { Command } from 'commander';
import { checkReadable } from '../../platform/home.js';
import { print } from '../console.js';
import { settingsOf } from '../settings-flags.js';

/** `longhaul down`. */
export function registerDown(program: Command): void {
  program
    .command('down')
    .description('end the stack that `longhaul up` or `longhaul stdio` started')
    .action(async (_flags: unknown, command: Command) => {
      const [{ home }, { down }] = await Promise.all([settingsOf(command), import('../../stack/down.js')]);
      checkReadable(home);
      await down(home, print);
    });
}
