/** The package's entry for server processes (`longhaul/server`), with everything that Longhaul mounts. */
import * as bare from './mcp-server/index.js';
import type { Settings } from './platform/config.js';
import type { Logger } from './platform/log.js';
import { MOUNTS } from './mounts.js';

export type { RunningServer } from './mcp-server/index.js';

/**
 * Starts the HTTP server. It also serves while Temporal is down, and reports that.
 *
 * @throws SettingsError when the port is in use, a tool's file can't be loaded, the settings would let anybody in, or the
 *   files of TLS can't be used
 */
export function startServer(settings: Settings, logger: Logger): Promise<bare.RunningServer> {
  return bare.startServer(settings, logger, MOUNTS);
}

/**
 * Serves one client over standard input and output until it closes its input. Requests that don't need Temporal are answered
 * at once.
 *
 * @param stack rejects if Temporal can't be started; then the service ends. Default: never rejects
 * @throws the reason with which `stack` rejected
 */
export function serveStdio(settings: Settings, logger: Logger, stack?: Promise<void>): Promise<void> {
  return bare.serveStdio(settings, logger, MOUNTS, stack);
}
