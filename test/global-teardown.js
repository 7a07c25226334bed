import { rmSync } from 'node:fs';
import { endSteps } from '../dist/worker/steps/end-steps.js';

export default async function tearDown() {
  await Promise.all((globalThis.longhaulTestShared ?? []).map((part) => part.stop(10_000)));
  await globalThis.longhaulTestTemporal?.stop(5_000);
  // A test that failed may have left some.
  await endSteps(process.env.LONGHAUL_HOME, 0);
  rmSync(process.env.LONGHAUL_HOME, { recursive: true, force: true });
}
