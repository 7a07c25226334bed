/** What the server says of itself. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CODE_ROOT } from '../platform/project.js';

/** Version of the package; the compiled code lies one folder below its package.json. */
export const VERSION: string = (() => {
  for (const folder of [CODE_ROOT, dirname(CODE_ROOT)]) {
    try {
      return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
    } catch {
      continue;
    }
  }
  return '0.0.0';
})();

export const SERVER_INFO = { name: 'longhaul', title: 'Longhaul', version: VERSION };

export const SERVER_INSTRUCTIONS =
  'Tools of this server may run for hours. A call gives a handle at once; the work goes on whether or not anybody ' +
  'waits, and survives restarts of client and server. Look again at the suggested interval, not more often. Results ' +
  'can be fetched again and again until they expire.';
