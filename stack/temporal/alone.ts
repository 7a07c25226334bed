/** `longhaul temporal`: the embedded Temporal alone, for users who run worker and server themselves. */
import type { Settings } from '../../platform/settings/index.js';
import { runInForeground } from '../foreground.js';
import { StackError, type Say } from '../stack-error.js';
import { clearStackState } from '../stack-state.js';
import { endOrphans } from '../supervisor.js';
import { startEmbeddedTemporal, UI_IS_OFF } from './server.js';
import { lockHome } from '../up.js';

/** Runs Temporal until a shutdown request, and returns the exit code. @param print gets the addresses */
export async function runTemporal(settings: Settings, print: Say, say: Say): Promise<number> {
  const release = lockHome(settings.home, 'temporal');
  try {
    await endOrphans(settings.home, say);
    return await runInForeground(async () => {
      const temporal = await startEmbeddedTemporal(settings, say);
      print(`Temporal:      ${temporal.address}\nTemporal's UI: ${temporal.uiUrl ?? UI_IS_OFF}`);
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
