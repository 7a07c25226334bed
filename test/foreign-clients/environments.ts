/** Where drivers run: two virtual environments, a Go module and an npm package, all of them pinned and installed once. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { buildGoModule } from '../support/go-programs.js';
import { cacheFolder, INSTALL_LIMIT_MS, installOnce } from '../support/install-once.js';
import { installVenv } from '../support/python.js';

const run = promisify(execFile);
const folder = resolve('test/foreign-clients');
const nodeFolder = join(folder, 'node');

/** Longest that a driver may run, in milliseconds. */
const DRIVER_LIMIT_MS = 240_000;

/** `mcp-1` and `mcp-2`: Python, around the official SDK 1.x and 2.x. */
export type Environment = 'mcp-1' | 'mcp-2' | 'go' | 'node';

/** Runs an environment's driver with one argument, and gives what it prints. */
type Start = (driver: string, argument: string) => Promise<string>;

/** No telemetry, no look for updates, no compiled files beside the sources. */
const QUIET = {
  NODE_OPTIONS: '',
  PYTHONPYCACHEPREFIX: join(cacheFolder(), 'pycache'),
  PYTHONWARNINGS: 'ignore',
  FASTMCP_CHECK_FOR_UPDATES: 'off',
  LANGSMITH_TRACING: 'false',
  OPENAI_AGENTS_DISABLE_TRACING: '1',
  MASTRA_TELEMETRY_DISABLED: '1',
};

async function output(command: string, args: string[]): Promise<string> {
  const limits = { timeout: DRIVER_LIMIT_MS, maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await run(command, args, { ...limits, env: { ...process.env, ...QUIET } });
  return stdout;
}

const INSTALLERS: Record<Environment, () => Promise<Start>> = {
  'mcp-1': () => python('mcp-1'),
  'mcp-2': () => python('mcp-2'),
  go,
  node,
};

const installed = new Map<Environment, Promise<Start>>();

/** Installs an environment, unless that has been done. */
export function install(environment: Environment): Promise<Start> {
  if (!installed.has(environment)) installed.set(environment, INSTALLERS[environment]());
  return installed.get(environment)!;
}

async function python(environment: 'mcp-1' | 'mcp-2'): Promise<Start> {
  const bin = await installVenv(`foreign-${environment}`, join(folder, `python/${environment}.txt`));
  return (driver, argument) => output(join(bin, 'python'), [join(folder, 'python', driver), argument]);
}

async function go(): Promise<Start> {
  const driver = await buildGoModule('foreign-go', join(folder, 'go'));
  return (_driver, argument) => output(driver, [argument]);
}

/** The packages lie outside the clone, so drivers are copied beside a link to them: imports go by a module's own place. */
async function node(): Promise<Start> {
  const inputs = ['package.json', 'package-lock.json', '.npmrc'];
  const target = await installOnce(
    'foreign-node',
    inputs.map((file) => join(nodeFolder, file)),
    async (place) => {
      mkdirSync(place, { recursive: true });
      for (const file of inputs) cpSync(join(nodeFolder, file), join(place, file));
      await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: place, timeout: INSTALL_LIMIT_MS });
    },
  );
  return async (driver, argument) => {
    const place = mkdtempSync(join(tmpdir(), 'longhaul-foreign-'));
    try {
      for (const file of ['driver.mjs', driver]) cpSync(join(nodeFolder, file), join(place, file));
      symlinkSync(join(target, 'node_modules'), join(place, 'node_modules'));
      return await output(join(target, 'node_modules/node/bin/node'), [join(place, driver), argument]);
    } finally {
      rmSync(place, { recursive: true });
    }
  };
}

/** The version that an environment pins a package to, as its file says it. */
export function pinnedVersion(environment: Environment, name: string): string {
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  const find = (text: string, pattern: string) => new RegExp(pattern, 'm').exec(text)?.[1];
  const escaped = name.replaceAll('.', '\\.');
  const found = {
    'mcp-1': () => find(read('python/mcp-1.txt'), `^${escaped}==(\\S+)$`),
    'mcp-2': () => find(read('python/mcp-2.txt'), `^${escaped}==(\\S+)$`),
    go: () => find(read('go/go.mod'), `^require ${escaped} (\\S+)$`),
    node: () => find(read('node/package.json'), `^ *"${escaped}": "(\\d\\S*)",?$`),
  }[environment]();
  if (!found) throw new Error(`${environment}: ${name} is not pinned`);
  return found;
}
