import type { Command } from 'commander';
import { openHome } from '../../platform/home.js';
import { settingsOf } from '../settings-flags.js';

/** `longhaul server`. */
export function define(command: Command): void {
  command.action(async () => {
    const [settings, { assertServable }, { runInForeground }, { createLogger }, { startServer }] =
      await Promise.all([
        settingsOf(command),
        import('../../platform/setting-conflicts.js'),
        import('../../stack/foreground.js'),
        import('../../platform/log.js'),
        import('../../server.js'),
      ]);
    assertServable(settings);
    const logger = createLogger('server', settings.logLevel);
    openHome(settings.home, (line) => logger.warn(line));
    process.exit(await runInForeground(() => startServer(settings, logger)));
  });
}
