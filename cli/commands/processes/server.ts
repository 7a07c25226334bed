import type { Command } from 'commander';
import { openHome } from '../../../platform/home/index.js';
import { createLogger } from '../../../platform/observe/log.js';
import { assertServable } from '../../../platform/settings/conflicts.js';
import { startServer } from '../../../server.js';
import { runInForeground } from '../../../stack/foreground.js';
import { settingsOf, showSettings } from '../../settings-flags.js';

export function define(command: Command): void {
  showSettings(command, ['basics', 'server', 'temporal', 'storage', 'callers', 'limits', 'records']);
  command.action(async () => {
    const settings = await settingsOf(command);
    assertServable(settings);
    const logger = createLogger('server', settings.logLevel);
    openHome(settings.home, (line) => logger.warn(line));
    process.exit(await runInForeground(() => startServer(settings, logger)));
  });
}
