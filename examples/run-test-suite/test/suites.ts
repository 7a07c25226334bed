/** Suites for the tests: copies of the samples, and small ones that are written for a test. */
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** For busy machines: a call takes some seconds on an idle one. */
export const LIMIT = { timeoutMs: 240_000 };

export const makeRoot = async () => realpath(await mkdtemp(join(tmpdir(), 'run-test-suite-')));

/** A copy of a sample, in which nothing has run. */
export async function copySample(sample: string, folder: string): Promise<string> {
  const isSource = (path: string) => !/\/(\.cache|node_modules|target)$/.test(path);
  await cp(join('samples', sample), folder, { recursive: true, filter: isSource });
  return folder;
}

/** @param files text by path */
export async function writeSuite(folder: string, files: Record<string, string>): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

/** A suite of node:test: the given lines, with `test`, `assert` and Node's process functions at hand. */
export const nodeTest = (lines: string) => `
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
${lines}`;

/** A test fails at once, and another one waits until the file `gate` is there. */
export const gatedSuite = (folder: string) =>
  writeSuite(folder, {
    'test/gate.test.mjs': nodeTest(`
test('fails at once', () => assert.equal(1, 2));
test('waits', async () => { while (!existsSync('gate')) await sleep(50); });`),
    'test/other.test.mjs': nodeTest(`test('passes', () => undefined);`),
  });

export async function eventually<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  const until = performance.now() + LIMIT.timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > until) throw new Error(`timed out, waiting until ${what}`);
    await sleep(100);
  }
}

/** PIDs whose environment has this text. Only Linux shows them. */
export async function processesWith(text: string): Promise<number[]> {
  const names = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const environments = await Promise.all(
    names.map((name) => readFile(`/proc/${name}/environ`, 'latin1').catch(() => '')),
  );
  return names.filter((_name, index) => environments[index]!.includes(text)).map(Number);
}
