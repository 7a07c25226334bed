/** Things that tests use, and how they end: with the test, or after all tests of the file, last first. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach } from '@jest/globals';

type End = () => unknown;
type Opened = { stop(): unknown } | { close(): unknown } | { remove(): unknown };

const endsOfFile: End[] = [];
const endsOfTest: End[] = [];

async function endAll(ends: End[]): Promise<void> {
  const errors: unknown[] = [];
  for (const end of ends.splice(0).reverse())
    await (async () => end())().catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}
afterEach(() => endAll(endsOfTest));
afterAll(() => endAll(endsOfFile));

const endOf = (opened: Opened): unknown => {
  if ('stop' in opened) return opened.stop();
  return 'close' in opened ? opened.close() : opened.remove();
};

/** Has `end` called after the tests of this file, before what was opened earlier is ended. */
export function afterAllTests(end: End): void {
  endsOfFile.push(end);
}

/** Has `end` called after the test that runs, also if it fails. */
export function afterThisTest(end: End): void {
  endsOfTest.push(end);
}

/**
 * A step of a file's set-up, at its top level: `await inSetUp(stack.ready());`
 *
 * Ends what is open if the step fails, because Jest runs no hooks of a file that can't be loaded.
 */
export async function inSetUp<T>(step: T | Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    await endAll(endsOfFile);
    throw error;
  }
}

/** Opens what all tests of the file use, in its set-up: `const stack = await forAllTests(TestStack.start());` */
export async function forAllTests<T extends Opened>(opening: T | Promise<T>): Promise<T> {
  const opened = await inSetUp(opening);
  afterAllTests(() => endOf(opened));
  return opened;
}

/** Opens what the test that runs uses: `const proxy = await forThisTest(TemporalProxy.start(decide));` */
export async function forThisTest<T extends Opened>(opening: T | Promise<T>): Promise<T> {
  const opened = await opening;
  afterThisTest(() => endOf(opened));
  return opened;
}

/** A new folder, removed after the tests of this file. @param name e.g. `audit` */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `longhaul-${name}-`));
  afterAllTests(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
