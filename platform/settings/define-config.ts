/** Loads nothing, so that tool definitions can be imported in Temporal's sandbox. */
import type { LonghaulConfig } from './table.js';

export type { LonghaulConfig };

/** Type-checks a configuration file: `export default defineConfig({ port: 8000 })`. */
export function defineConfig(config: LonghaulConfig): LonghaulConfig {
  return config;
}
