import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { STACK_MS } from '../support/limits.js';
import { TestHome } from './cli-process.js';

jest.setTimeout(STACK_MS);

const PIPELINE = `
name: leaves_files
outputs: { umask: work.umask }
jobs:
  work:
    outputs: [umask]
    artifacts: [made.txt]
    steps:
      - run: |
          echo made > made.txt
          echo "umask=$(umask)" >> "$LONGHAUL_OUTPUT"
`;

let home: TestHome;
beforeEach(async () => {
  home = await TestHome.create();
});
afterEach(() => home.remove());

function modesIn(folder: string): { path: string; mode: number }[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => existsSync(path))
    .map((path) => ({ path: relative(folder, path), mode: statSync(path).mode & 0o777 }));
}

test('a home and all that is written into it are for its user alone; steps keep the umask of the user', async () => {
  const folder = join(home.path, 'pipelines');
  mkdirSync(folder);
  writeFileSync(join(folder, 'leaves-files.yml'), PIPELINE);
  chmodSync(home.path, 0o755);
  const before = new Set(modesIn(home.path).map(({ path }) => path));
  await home.up({ LONGHAUL_PIPELINE_FOLDERS: folder });
  const call = home.run(['call', 'leaves_files', '--json']);
  expect(await call.ended).toBe(0);
  const umask = process.umask().toString(8).padStart(4, '0');
  expect(call.stdout()).toContain(`"umask":"${umask}"`);

  expect(statSync(home.path).mode & 0o777).toBe(0o700);
  const written = modesIn(home.path).filter(({ path }) => !before.has(path));
  // Files of steps are theirs, within a folder that is not open.
  const ours = written.filter(({ path }) => !/^workspaces\/./.test(path));
  for (const part of ['storage', 'logs', 'temporal.db', 'secret'])
    expect(ours.map(({ path }) => path.split('/')[0])).toContain(part);
  expect(ours.map(({ path }) => path).join()).toContain('made.txt');
  expect(ours.filter(({ mode }) => (mode & 0o077) !== 0)).toEqual([]);
});

test.each([
  ['server', 6],
  ['up', 6],
])('%s refuses a key file of %i bytes, and says what is lost without it', async (command, bytes) => {
  writeFileSync(join(home.path, 'secret'), Buffer.alloc(bytes, 7));
  const run = home.run([command], command === 'up' ? {} : { TEMPORAL_ADDRESS: '127.0.0.1:9' });
  expect(await run.ended).toBe(1);
  expect(run.stderr()).toContain(join(home.path, 'secret'));
  expect(run.stderr()).toContain(`expected a key of 32 bytes or more; got ${bytes}`);
  expect(run.stderr()).toContain('idempotency key');
  expect(home.state()).toEqual({});
});
