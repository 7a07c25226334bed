/** Build step: bundles the workflows that ship with Longhaul. */
import { loadSettings } from '../platform/config.js';
import { bundleShippedWorkflows } from './bundle.js';

await bundleShippedWorkflows(await loadSettings());
