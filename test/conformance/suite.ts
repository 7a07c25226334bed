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

/**
 * Runs a scenario against a server.
 *
 * @param revision protocol revision; the suite chooses it for scenarios of extensions
 * @returns the checks with their outcomes
 */
export async function runScenario(url: string, name: string, revision?: string): Promise<Check[]> {
  const results = mkdtempSync(join(tmpdir(), 'longhaul-conformance-'));
  try {
    const version = revision === undefined ? [] : ['--spec-version', revision];
    const args = ['server', '--url', url, '--scenario', name, ...version, '--output-dir', results];
    const { stdout } = await suite(args).catch((failed: { stdout: string }) => failed);
    const [saved] = readdirSync(results);
    if (!saved) throw new Error(`it did not run: ${stdout}`);
    return JSON.parse(readFileSync(join(results, saved, 'checks.json'), 'utf8')) as Check[];
  } finally {
    rmSync(results, { recursive: true });
  }
}
