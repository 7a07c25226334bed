/** Apart from the reading of settings, so that a tool's definition can be imported in Temporal's sandbox. */
import type { LonghaulConfig } from './config.js';

export type { LonghaulConfig };

/** Types a configuration file: `export default defineConfig({ port: 8000 })`. */
export function defineConfig(config: LonghaulConfig): LonghaulConfig {
  return config;
}
