import type { Command } from 'commander';
import { assertServable } from '../../platform/config.js';
import { openHome } from '../../platform/home.js';
import { settingsOf } from '../settings-flags.js';

/** `longhaul server`. */
export function registerServer(program: Command): void {
  program
    .command('server')
    .description('run the MCP server alone, in the foreground')
    .action(async (_flags: unknown, command: Command) => {
      const [settings, { runInForeground }, { createLogger }, { startServer }] = await Promise.all([
        settingsOf(command),
        import('../../stack/foreground.js'),
        import('../../platform/log.js'),
        import('../../mcp-server/index.js'),
      ]);
      assertServable(settings);
      const logger = createLogger('server', settings.logLevel);
      openHome(settings.home, (line) => logger.warn(line));
      process.exit(await runInForeground(() => startServer(settings, logger)));
    });
}
