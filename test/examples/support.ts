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
import { selectExtent } from '../support/passed.js';
import type { ProtocolClient } from '../support/protocols/client.js';
import { OPERATION_TOKENS, operationTokensClient } from '../support/protocols/operation-tokens.js';
import { plainClient } from '../support/protocols/plain.js';
import { stateless } from '../support/protocols/rpc.js';
import { tasksClient } from '../support/protocols/tasks.js';
import { TestStack } from '../support/test-stack.js';

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

/** An example as installed, and a server and a worker with its tools. */
export class ExampleStack {
  private constructor(
    readonly folder: string,
    readonly stack: TestStack,
  ) {}

  /** @param prepare makes what the example works on; returns further variables of the server and the worker */
  static async start(
    name: string,
    prepare: (folder: string) => Promise<Record<string, string> | void> = async () => undefined,
  ): Promise<ExampleStack> {
    const folder = await installExample(name);
    try {
      const environment = (await prepare(folder)) ?? {};
      return new ExampleStack(folder, await TestStack.start({ LONGHAUL_PROJECT: folder, ...environment }));
    } catch (error) {
      removeExample(folder);
      throw error;
    }
  }

  get base(): string {
    return this.stack.base;
  }

  async stop(): Promise<void> {
    await this.stack.stop();
    removeExample(this.folder);
  }
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
  for (const script of ['types', 'test']) await runScript(folder, script);
}

/** Runs a script of the example's package.json. @returns its output @throws Error with its output, when it fails */
export async function runScript(
  folder: string,
  script: string,
  environment: Record<string, string> = {},
): Promise<string> {
  const own = Object.entries(process.env).filter(([name]) => !/^LONGHAUL_|^NODE_OPTIONS$|^npm_/.test(name));
  const env = { ...Object.fromEntries(own), ...environment };
  const { stdout } = await run('npm', ['run', '-s', script], {
    cwd: folder,
    env,
    maxBuffer: 64 * 2 ** 20,
  }).catch(({ stdout = '', stderr = '', message }: { stdout?: string; stderr?: string; message: string }) => {
    throw new Error(`npm run ${script} failed: ${message}\n${stdout}\n${stderr}`);
  });
  return stdout;
}

/**
 * Drives an example through the protocols: all three of PROTOCOLS when it has changed since all passed (or LONGHAUL_EXAMPLES is `all`), otherwise
 * one of them.
 *
 * @param base address of a server with the example's tools
 * @param usual name of the protocol of the short form
 * @param drive takes an operation from its start to its end
 */
export async function throughProtocols(
  name: string,
  base: string,
  usual: keyof typeof PROTOCOLS,
  drive: (client: ProtocolClient) => Promise<void>,
): Promise<void> {
  const { isWhole, recordPass } = selectExtent(
    `example-${name}-passed`,
    [join('examples', name)],
    'LONGHAUL_EXAMPLES',
  );
  const names = isWhole ? (Object.keys(PROTOCOLS) as (keyof typeof PROTOCOLS)[]) : [usual];
  const clients = names.map((protocol) => PROTOCOLS[protocol](`${base}/mcp`));
  try {
    await Promise.all(clients.map(drive));
  } finally {
    await Promise.all(clients.map(async (client) => client.close?.()));
  }
  if (isWhole) recordPass();
}

/** Clients by the names that {@link throughProtocols} takes. @param url MCP endpoint */
export const PROTOCOLS = {
  tasks: tasksClient,
  tokens: (url: string) => operationTokensClient(stateless(url, OPERATION_TOKENS)),
  plain: (url: string) => plainClient(stateless(url, {})),
};
