/** Variables for the processes of a suite. */

import { delimiter } from 'node:path';

/** Settings of this worker, and what makes a runner believe that it is a part of another run. */
const OWN =
  /^(LONGHAUL_|TEMPORAL_|JEST_|VITEST|NODE_TEST_CONTEXT$|NODE_V8_COVERAGE$|NODE_CHANNEL_FD$|NODE_OPTIONS$)/;

export function runnerEnvironment(own: Record<string, string>): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(([name]) => !OWN.test(name));
  const { PYTHONPATH: path } = process.env;
  if (own.PYTHONPATH && path) own = { ...own, PYTHONPATH: `${own.PYTHONPATH}${delimiter}${path}` };
  return { ...Object.fromEntries(inherited), CI: 'true', NO_COLOR: '1', FORCE_COLOR: '0', ...own };
}
