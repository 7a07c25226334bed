import type { Command } from 'commander';
import { openHome } from '../../../platform/home/index.js';
import { boundHeapGrowth } from '../../../worker/process/heap-growth.js';
import { settingsOf, showSettings } from '../../settings-flags.js';

export function define(command: Command): void {
  showSettings(command, ['basics', 'temporal', 'worker', 'storage', 'records']);
  command.action(async () => {
    const [settings, { assertWorkable }, { runInForeground }, { createLogger }, { startWorker }] =
      await Promise.all([
        settingsOf(command),
        import('../../../platform/settings/conflicts.js'),
        import('../../../stack/foreground.js'),
        import('../../../platform/observe/log.js'),
        import('../../../worker/index.js'),
      ]);
    assertWorkable(settings);
    boundHeapGrowth();
    const logger = createLogger('worker', settings.logLevel);
    openHome(settings.home, (line) => logger.warn(line));
    process.exit(await runInForeground(() => startWorker(settings, logger)));
  });
}
