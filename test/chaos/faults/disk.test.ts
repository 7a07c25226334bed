/** Needs root, for a tmpfs. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Disk } from './disk.js';

let folder: string;
let disk: Disk;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-disk-'));
  disk = await Disk.mount(join(folder, 'disk'), 8);
});
afterEach(() => {
  disk?.unmount();
  rmSync(folder, { recursive: true, force: true });
});

const NO_ROOM = expect.objectContaining({ code: 'ENOSPC' });
const write = (name: string, text: string) => writeFileSync(join(disk.path, name), text);
const isMounted = (path: string) => readFileSync('/proc/mounts', 'utf8').includes(` ${path} tmpfs `);

test('a full disk takes no byte, neither of a new file nor of one that is there, until it is freed', () => {
  write('before', 'x'.repeat(4096));
  disk.fill();
  expect(() => write('new', 'x')).toThrow(NO_ROOM);
  expect(() => writeFileSync(join(disk.path, 'before'), 'x', { flag: 'a' })).toThrow(NO_ROOM);
  expect(readFileSync(join(disk.path, 'before'), 'utf8')).toBe('x'.repeat(4096));
  disk.free();
  write('new', 'x'.repeat(1024 * 1024));
});

test('it can be filled again, with what was given back too', () => {
  write('before', 'x'.repeat(64 * 1024));
  disk.fill();
  rmSync(join(disk.path, 'before'));
  write('new', 'x');
  disk.fill();
  expect(() => write('newer', 'x')).toThrow(NO_ROOM);
});

test('unmount ends it at once, also while a file is open on it', () => {
  const open = openSync(join(disk.path, 'open'), 'w');
  expect(isMounted(disk.path)).toBe(true);
  disk.unmount();
  expect(isMounted(disk.path)).toBe(false);
  expect(existsSync(join(disk.path, 'open'))).toBe(false);
  writeSync(open, 'still usable');
  closeSync(open);
});

/** Command of another process that mounts a disk at `path`, and exits when its standard input ends. */
function mounting(path: string): string[] {
  const script = join(folder, 'mounting.ts');
  const module = new URL('./disk.ts', import.meta.url).href;
  writeFileSync(
    script,
    `import { Disk } from ${JSON.stringify(module)};
    await Disk.mount(${JSON.stringify(path)}, 1);
    console.log('mounted');
    process.stdin.once('end', () => process.exit(1)).resume();`,
  );
  return [process.execPath, '--import', 'jiti/register', script];
}

test('it is unmounted when the process that mounted it exits', async () => {
  const path = join(folder, 'other');
  const [command, ...args] = mounting(path);
  const child = spawn(command!, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  expect(isMounted(path)).toBe(true);
  child.stdin.end();
  await once(child, 'close');
  expect(isMounted(path)).toBe(false);
});

test('the error of a mount without rights says that root is needed', () => {
  const withoutRights = ['--bounding-set=-all', '--inh-caps=-all', ...mounting(folder)];
  const { status, stderr } = spawnSync('setpriv', withoutRights, { encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, expect.stringContaining('a file system of its own needs root')]);
});
