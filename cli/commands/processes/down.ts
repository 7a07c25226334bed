import type { Command } from 'commander';
import { checkReadable } from '../../../platform/home/index.js';
import { print } from '../../console.js';
import { settingsOf } from '../../settings-flags.js';

export function define(command: Command): void {
  command.action(async () => {
    const [{ home }, { down }] = await Promise.all([settingsOf(command), import('../../../stack/down.js')]);
    checkReadable(home);
    await down(home, print);
  });
}
