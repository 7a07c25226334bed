/** Build IDs: equal for the same code in any folder, another one for other code. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, jest, test } from '@jest/globals';
import { STACK_MS } from '../support/limits.js';
import { Release } from './support.js';

// Each build ID takes a run of the bundler.
jest.setTimeout(STACK_MS);

const root = mkdtempSync(join(tmpdir(), 'longhaul-build-id-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function settingsIn(folder: string): Record<string, string> {
  const project = join(root, folder, 'my-project');
  cpSync(resolve('test/fixtures/counted-project'), project, { recursive: true });
  return { LONGHAUL_PROJECT: project, LONGHAUL_HOME: join(root, folder, 'home') };
}

test('one release and project in two folders are one build; another workflow is another one', () => {
  const one = Release.copyTo(join(root, 'one/deep/er'));
  const other = Release.copyTo(join(root, 'other'));
  const [ofOne, ofOther] = [settingsIn('one'), settingsIn('other')];
  const buildId = one.buildId(ofOne);
  expect(buildId).toMatch(/^\d+\.\d+\.\d+-[0-9a-f]{16}$/);
  expect(other.buildId(ofOther)).toBe(buildId);
  writeFileSync(
    join(ofOther['LONGHAUL_PROJECT']!, 'workflows/added.ts'),
    'export async function added() { return 1; }',
  );
  expect(other.buildId(ofOther)).not.toBe(buildId);
  // Activities aren't replayed: a correction of one reaches operations that are open.
  writeFileSync(join(ofOne['LONGHAUL_PROJECT']!, 'activities/added.ts'), 'export async function added() {}');
  expect(one.buildId(ofOne)).toBe(buildId);
});
