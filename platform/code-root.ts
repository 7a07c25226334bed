/** Where the running code is. This file stays one folder below the root, in sources and `dist` as in `dist/bin`. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root of the running code: `dist`, or the checkout when TypeScript is run directly. */
export const CODE_ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** Node.js loads modules of compiled code from `bin`, which `build-program.js` makes. */
export const IS_COMPILED = !import.meta.url.endsWith('.ts');

export const CODE_EXTENSION = IS_COMPILED ? '.js' : '.ts';

/** Path of one of Longhaul's own modules, e.g. `workflows/runtime/index`. */
export function builtinModule(name: string): string {
  return join(CODE_ROOT, name + CODE_EXTENSION);
}
