/** Program that bundles workflows, forked by `bundleInChildProcess` with the worker's settings in its environment. Sends one message. */
import { loadSettings } from '../../platform/settings/index.js';
import { BundleError, bundleWorkflows, type BundleOptions, type BundleMessage } from './bundle.js';

async function answer(): Promise<BundleMessage> {
  try {
    const options = JSON.parse(process.argv[2]!) as BundleOptions;
    return { bundle: await bundleWorkflows(await loadSettings(), options) };
  } catch (error) {
    if (error instanceof BundleError) return { problems: error.problems, watched: error.watched };
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

// The worker has the answer, or is gone.
process.on('disconnect', () => process.exit(0));
if (!process.connected) process.exit(0);
// The callback keeps a closed channel from raising an unhandled error.
process.send!(await answer(), undefined, undefined, () => undefined);
