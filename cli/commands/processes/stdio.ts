import type { Command } from 'commander';
import { openHome } from '../../../platform/home/index.js';
import { say } from '../../console.js';
import { settingsOf, showSettings } from '../../settings-flags.js';

export function define(command: Command): void {
  showSettings(command);
  command.action(async () => {
    const [settings, { assertWorkable }, { attachToStack }, { createLogger }] = await Promise.all([
      settingsOf(command),
      import('../../../platform/settings/conflicts.js'),
      import('../../../stack/attach.js'),
      import('../../../platform/observe/log.js'),
    ]);
    assertWorkable(settings);
    openHome(settings.home, say);
    const stack = attachToStack(settings, say);
    stack.catch(() => undefined);
    const { serveStdio } = await import('../../../server.js');
    await serveStdio(settings, createLogger('stdio', settings.logLevel), stack);
    process.exit(0);
  });
}
