/** Downloads or builds Temporal's programs. An atomic rename comes last, so an incomplete binary never runs. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { messageOf, type Say } from '../stack-error.js';

/** Keeps a blocked network from delaying the other ways. */
const ANSWER_LIMIT_MS = 10_000;
const DOWNLOAD_LIMIT_MS = 5 * 60_000;
const BUILD_LIMIT_MS = 20 * 60_000;
const BUILD_REPORT_INTERVAL_MS = 60_000;

/** Downloads the official release to the path `target`. */
export async function downloadTemporal(
  version: string,
  target: string,
  say: Say,
  get: typeof fetch = fetch,
): Promise<void> {
  const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch as string];
  if (!arch || !['linux', 'darwin'].includes(process.platform)) {
    throw new Error(`no release for ${process.platform} on ${process.arch}`);
  }
  const url = `https://temporal.download/cli/archive/v${version}?platform=${process.platform}&arch=${arch}`;
  say(`Downloading Temporal CLI ${version} (about 50 MB, usually under a minute)...`);
  const abort = new AbortController();
  const abortIn = (limitMs: number, why: string) => setTimeout(() => abort.abort(new Error(why)), limitMs);
  let limit = abortIn(ANSWER_LIMIT_MS, `no answer in ${ANSWER_LIMIT_MS / 1000} s`);
  try {
    const response = await get(url, { signal: abort.signal });
    clearTimeout(limit);
    limit = abortIn(DOWNLOAD_LIMIT_MS, `not complete in ${DOWNLOAD_LIMIT_MS / 60_000} minutes`);
    if (!response.ok || !response.body) throw new Error(`answered ${response.status}`);
    const { body } = response;
    await installAtomically(target, 'temporal', async (folder) => {
      const tar = spawn('tar', ['-xzf', '-', '-C', folder, 'temporal'], {
        stdio: ['pipe', 'ignore', 'pipe'],
      });
      await Promise.all([waitForSuccess(tar, 'tar'), pipeline(Readable.fromWeb(body), tar.stdin)]);
    });
  } catch (error) {
    const why: unknown = abort.signal.aborted ? abort.signal.reason : error;
    const { cause } = why as { cause?: unknown };
    throw new Error(`${url}: ${messageOf(why)}${cause ? ` (${messageOf(cause)})` : ''}`, { cause: error });
  } finally {
    clearTimeout(limit);
  }
}

/** A Go program to build from a module proxy. */
export interface GoProgram {
  /** Name for messages. */
  name: string;
  /** Import path of the command. */
  path: string;
  version: string;
  /** Usual build time, for messages: `4 to 5 minutes`. */
  duration: string;
}

/**
 * Builds a program with `go install`, for networks that reach a Go module proxy but no official download.
 *
 * @throws Error when Go isn't on PATH, when it fails (with the last line that it prints), or after 20 minutes
 */
export async function buildWithGo(
  { name, path, version, duration }: GoProgram,
  target: string,
  say: Say,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const minutes = (sinceMs: number) => Math.round((performance.now() - sinceMs) / 60_000);
  // The program's name leaves out the module's major version.
  const program = basename(path.replace(/\/v\d+$/, ''));
  await installAtomically(target, program, async (folder) => {
    const go = spawn('go', ['install', `${path}@v${version}`], {
      env: { ...environment, GOBIN: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const startedMs = performance.now();
    go.once('spawn', () => say(`Building ${name} ${version} with Go (${duration}, the first time only)...`));
    // spawn's own time limit would leave its timer running when the program doesn't exist.
    const limit = setTimeout(() => go.kill(), BUILD_LIMIT_MS);
    const report = setInterval(
      () => say(`Still building ${name} (${minutes(startedMs)} min so far)...`),
      BUILD_REPORT_INTERVAL_MS,
    );
    try {
      await waitForSuccess(go, 'go install');
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? new Error('Go is not on PATH') : error;
    } finally {
      clearTimeout(limit);
      clearInterval(report);
    }
  });
}

/** `make` creates the file `name` in an empty folder, which is then renamed to `target`. */
async function installAtomically(
  target: string,
  name: string,
  make: (folder: string) => Promise<void>,
): Promise<void> {
  mkdirSync(dirname(target), { recursive: true });
  const folder = mkdtempSync(join(dirname(target), '.making-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    await make(folder);
    chmodSync(join(folder, name), 0o755);
    renameSync(join(folder, name), target);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

/** Resolves when a process exits with 0, else rejects with the last line of its standard error. */
async function waitForSuccess(child: ReturnType<typeof spawn>, name: string): Promise<void> {
  let complaint = '';
  const end = () => child.kill();
  process.once('exit', end);
  child.stderr?.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-2_000)));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      process.off('exit', end);
      if (code === 0) resolve();
      else
        reject(
          new Error(`${name} ended with ${signal ?? code}: ${complaint.trim().split('\n').pop() ?? ''}`),
        );
    });
  });
}
