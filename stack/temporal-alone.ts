/** `longhaul temporal`: the embedded Temporal without worker and server, for those who run these themselves. */
import type { Settings } from '../platform/config.js';
import { runInForeground } from './foreground.js';
import { StackError, type Say } from './stack-error.js';
import { clearStackState } from './stack-state.js';
import { endOrphans } from './supervisor.js';
import { startEmbeddedTemporal } from './temporal-server.js';
import { lockHome } from './up.js';

/**
 * Runs it until somebody asks for its end.
 *
 * @param print told the addresses
 * @param say told what takes long
 * @returns the exit code
 */
export async function runTemporal(settings: Settings, print: Say, say: Say): Promise<number> {
  const release = lockHome(settings.home, 'temporal');
  try {
    await endOrphans(settings.home, say);
    return await runInForeground(async () => {
      const temporal = await startEmbeddedTemporal(settings, say);
      print(`Temporal:      ${temporal.address}\nTemporal's UI: ${temporal.uiUrl}`);
      const done = temporal.exited.then(({ how }) => {
        clearStackState(settings.home);
        throw new StackError(`Temporal ended with ${how}`);
      });
      return { stop: () => temporal.stop(), done };
    });
  } finally {
    release();
  }
}
