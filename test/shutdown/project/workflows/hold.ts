import { proxyActivities } from '@temporalio/workflow';
import { progress, requestInput } from 'longhaul/workflow';
import type * as activities from '../activities/hold.js';
import { proceed } from '../tools/hold.js';

const { holdUntilReleased, note } = proxyActivities<typeof activities>({
  startToCloseTimeout: '1h',
  retry: { initialInterval: '100ms' },
});

export async function hold({ folder }: { folder: string }) {
  progress({ progress: 0, total: 2 });
  const proceedThenNote = async () => {
    await requestInput(proceed, 'Proceed?');
    const noted = await note(folder);
    progress({ progress: 1, total: 2 });
    return noted;
  };
  const [held, noted] = await Promise.all([holdUntilReleased(folder), proceedThenNote()]);
  return { held, noted };
}
