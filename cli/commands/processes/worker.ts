import type { Command } from 'commander';
import { openHome } from '../../../platform/home/index.js';
import { createLogger } from '../../../platform/observe/log.js';
import { assertWorkable } from '../../../platform/settings/conflicts.js';
import { runInForeground } from '../../../stack/foreground.js';
import { startWorker } from '../../../worker/index.js';
import { boundHeapGrowth } from '../../../worker/process/heap-growth.js';
import { settingsOf, showSettings } from '../../settings-flags.js';

export function define(command: Command): void {
  showSettings(command, ['basics', 'temporal', 'worker', 'storage', 'records']);
  command.action(async () => {
    const settings = await settingsOf(command);
    assertWorkable(settings);
    boundHeapGrowth();
    const logger = createLogger('worker', settings.logLevel);
    openHome(settings.home, (line) => logger.warn(line));
    process.exit(await runInForeground(() => startWorker(settings, logger)));
  });
}
