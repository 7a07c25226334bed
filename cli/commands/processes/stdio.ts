import type { Command } from 'commander';
import { openHome } from '../../../platform/home/index.js';
import { createLogger } from '../../../platform/observe/log.js';
import { assertWorkable } from '../../../platform/settings/conflicts.js';
import { attachToStack } from '../../../stack/attach.js';
import { say } from '../../console.js';
import { settingsOf, showSettings } from '../../settings-flags.js';

export function define(command: Command): void {
  showSettings(command);
  command.action(async () => {
    const settings = await settingsOf(command);
    assertWorkable(settings);
    openHome(settings.home, say);
    const stack = attachToStack(settings, say);
    stack.catch(() => undefined);
    // The stack starts while this loads.
    const { serveStdio } = await import('../../../server.js');
    await serveStdio(settings, createLogger('stdio', settings.logLevel), stack);
    process.exit(0);
  });
}
