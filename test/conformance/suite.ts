/** Runs the official conformance suite, which needs a newer Node than Longhaul does. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const folder = resolve('test/conformance');
const node = join(folder, 'node_modules/node/bin/node');
const main = join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

export interface Scenario {
  name: string;
  /** Revisions that the scenario is for; empty for extensions. */
  revisions: string[];
}

export interface Check {
  id: string;
  name: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  errorMessage?: string;
}

/** Installs the suite unless it is installed. */
export async function installSuite(): Promise<void> {
  if (!existsSync(node)) await run('npm', ['ci'], { cwd: folder });
}

function suite(args: string[]) {
  return run(node, [main, ...args], { env: { ...process.env, NODE_OPTIONS: '' } });
}

/** Lists the suite's scenarios for servers. */
export async function serverScenarios(): Promise<Scenario[]> {
  const { stdout } = await suite(['list', '--server']);
  return [...stdout.matchAll(/^ {2}- (\S+) \[(.*)\]$/gm)].map(([, name, revisions]) => ({
    name: name!,
    revisions: revisions === 'extension' ? [] : revisions!.split(','),
  }));
}

/** Outcomes of a scenario's checks, by the scenario's name. */
export type Outcomes = ReadonlyMap<string, Check[]>;

/** Runs all of a revision's scenarios for servers, in one process: starting it takes longer than most scenarios. */
export function runRevision(url: string, revision: string): Promise<Outcomes> {
  return outcomesOf(['--url', url, '--suite', 'all', '--spec-version', revision]);
}

/** Runs one scenario, of an extension. The suite chooses its revision. */
export function runScenario(url: string, name: string): Promise<Outcomes> {
  return outcomesOf(['--url', url, '--scenario', name]);
}

/** Folders of results are named `server-<scenario>-<time>`. */
const FOLDER = /^server-(.+)-\d{4}-\d\d-\d\dT[\w-]+Z$/;

async function outcomesOf(args: string[]): Promise<Outcomes> {
  const results = mkdtempSync(join(tmpdir(), 'longhaul-conformance-'));
  try {
    // It exits with 1 when a scenario fails, also one that doesn't apply.
    await suite(['server', ...args, '--output-dir', results]).catch(() => undefined);
    return new Map(
      readdirSync(results).map((saved) => [
        FOLDER.exec(saved)![1]!,
        JSON.parse(readFileSync(join(results, saved, 'checks.json'), 'utf8')) as Check[],
      ]),
    );
  } finally {
    rmSync(results, { recursive: true });
  }
}
