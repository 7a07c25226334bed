/** Build step: bundles the workflows that ship with Longhaul. */
import { DefaultLogger } from '@temporalio/worker';
import { loadSettings } from '../platform/config.js';
import { bundleShippedWorkflows } from './bundle.js';

await bundleShippedWorkflows(await loadSettings(), new DefaultLogger('WARN'));
