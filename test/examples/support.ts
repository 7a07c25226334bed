/** The projects of `examples/`, installed outside the checkout as a user who copies one has them. */
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { INSTALL_LIMIT_MS, installOnce } from '../support/install-once.js';

const run = promisify(execFile);
const CHECKOUT = resolve('.');
const MODULES = join(CHECKOUT, 'node_modules');
const GENERATED = new Set(['node_modules', '.longhaul']);

/**
 * Copies an example into a folder of its own and installs its dependencies, Longhaul of this checkout among them.
 *
 * @param name folder in `examples/`
 * @returns the folder, which the caller removes by {@link removeExample}
 */
export async function installExample(name: string): Promise<string> {
  const source = join(CHECKOUT, 'examples', name);
  const manifests = ['package.json', 'package-lock.json'].map((file) => join(source, file));
  const installed = await installOnce(`example-${name}`, manifests, async (folder) => {
    mkdirSync(folder, { recursive: true });
    for (const file of manifests) copyFileSync(file, join(folder, basename(file)));
    await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, timeout: INSTALL_LIMIT_MS });
  });
  const folder = join(mkdtempSync(join(tmpdir(), `longhaul-example-`)), name);
  cpSync(source, folder, { recursive: true, filter: (path) => !GENERATED.has(basename(path)) });
  const modules = join(folder, 'node_modules');
  // Longhaul and what it depends on come first: a package manager installs one copy that fits both.
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: object };
  link(CHECKOUT, join(modules, 'longhaul'));
  for (const name of Object.keys(dependencies)) link(join(MODULES, name), join(modules, name));
  link(join(CHECKOUT, 'dist/bin/longhaul.js'), join(modules, '.bin', 'longhaul'));
  linkAll(join(installed, 'node_modules'), modules);
  return folder;
}

/** @param folder of {@link installExample} */
export function removeExample(folder: string): void {
  rmSync(dirname(folder), { recursive: true, force: true });
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

/** Links the packages and commands of one `node_modules` into another, except those that are there. */
function linkAll(from: string, to: string): void {
  for (const name of readdirSync(from)) {
    if (/^@|^\.bin$/.test(name)) linkAll(join(from, name), join(to, name));
    else if (!existsSync(join(to, name))) link(join(from, name), join(to, name));
  }
}

/** Runs the example's own checks: its types, and its tests with the testing kit on the run's Temporal. @throws Error with their output */
export async function runOwnTests(folder: string): Promise<void> {
  const own = Object.entries(process.env).filter(([name]) => !/^LONGHAUL_|^NODE_OPTIONS$|^npm_/.test(name));
  const options = { cwd: folder, env: Object.fromEntries(own), maxBuffer: 64 * 2 ** 20 };
  for (const script of ['types', 'test'])
    await run('npm', ['run', '-s', script], options).catch(
      ({ stdout = '', stderr = '', message }: { stdout?: string; stderr?: string; message: string }) => {
        throw new Error(`npm run ${script} failed: ${message}\n${stdout}\n${stderr}`);
      },
    );
}
