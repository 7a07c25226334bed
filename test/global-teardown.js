import { rmSync } from 'node:fs';

export default async function tearDown() {
  await globalThis.longhaulTestTemporal?.stop();
  rmSync(process.env.LONGHAUL_HOME, { recursive: true, force: true });
}
