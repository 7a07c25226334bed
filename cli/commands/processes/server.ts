import type { Command } from 'commander';
import { openHome } from '../../../platform/home/index.js';
import { settingsOf, showSettings } from '../../settings-flags.js';

export function define(command: Command): void {
  showSettings(command, ['basics', 'server', 'temporal', 'storage', 'callers', 'limits', 'records']);
  command.action(async () => {
    const [settings, { assertServable }, { runInForeground }, { createLogger }, { startServer }] =
      await Promise.all([
        settingsOf(command),
        import('../../../platform/settings/conflicts.js'),
        import('../../../stack/foreground.js'),
        import('../../../platform/observe/log.js'),
        import('../../../server.js'),
      ]);
    assertServable(settings);
    const logger = createLogger('server', settings.logLevel);
    openHome(settings.home, (line) => logger.warn(line));
    process.exit(await runInForeground(() => startServer(settings, logger)));
  });
}
