import type { Command } from 'commander';
import { checkReadable } from '../../../platform/home/index.js';
import { down } from '../../../stack/down.js';
import { print } from '../../console.js';
import { settingsOf } from '../../settings-flags.js';

export function define(command: Command): void {
  command.action(async () => {
    const { home } = await settingsOf(command);
    checkReadable(home);
    await down(home, print);
  });
}
