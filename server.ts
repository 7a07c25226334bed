/** The package's entry for server processes (`longhaul/server`): `mcp-server/` with everything that Longhaul mounts. */
import * as bare from './mcp-server/index.js';
import { MOUNTS } from './mounts.js';
import type { Settings } from './platform/settings/index.js';
import type { Logger } from './platform/observe/log.js';

export type { RunningServer } from './mcp-server/index.js';

/** Starts the HTTP server. @throws SettingsError */
export function startServer(settings: Settings, logger: Logger): Promise<bare.RunningServer> {
  return bare.startServer(settings, logger, MOUNTS);
}

/** Serves one client over standard input and output. @param stack ends the service if it rejects. Default: never rejects */
export function serveStdio(settings: Settings, logger: Logger, stack?: Promise<void>): Promise<void> {
  return bare.serveStdio(settings, logger, MOUNTS, stack);
}
