import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createHash, createHmac } from 'node:crypto';
import { resolve } from 'node:path';
import { StreamableHTTPClientTransport, type Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { closeClients, connect, envelope, type CoordinatedTransport } from '../clients/support.js';
import { eventually, TestHome } from '../stack/cli-process.js';
import { INSTALL_MS } from '../support/limits.js';
import { passedHere, published, removePackages, unpackedBytes } from './packages.js';
import { FrontRegistry } from './registry.js';

jest.setTimeout(INSTALL_MS);

const LIMIT_MS = 300_000;
const SIGNING_KEY = 'correct horse battery staple';
const anything = z.looseObject({});
/** A package without dependencies. */
const SMALL = { package: 'is-number', version: '7.0.0' };
/** Advisory on minimist 1.2.5: CVE-2021-44906. */
const POLLUTION = {
  id: 1097678,
  url: 'https://github.com/advisories/GHSA-xvch-5gv4-984h',
  title: 'Prototype Pollution in minimist',
  severity: 'critical',
  vulnerable_versions: '>=1.0.0 <1.2.6',
} as const;

let registry: FrontRegistry;
let home: TestHome;
beforeAll(async () => {
  registry = await FrontRegistry.start();
  home = await TestHome.create();
  await home.up({
    LONGHAUL_PIPELINE_FOLDERS: resolve('examples/pipelines'),
    LONGHAUL_STEP_ENVIRONMENT: 'NPM_CONFIG_REGISTRY',
    LONGHAUL_SECRET_SIGNING_KEY: SIGNING_KEY,
    NPM_CONFIG_REGISTRY: registry.url,
  });
});
afterEach(async () => {
  registry.advisories = {};
  await closeClients();
});
afterAll(async () => {
  await home?.remove();
  await registry?.stop();
  removePackages();
});

interface Audit {
  version: string;
  packed_bytes: number;
  installed_bytes: number;
  packages: number;
  licences: Record<string, number>;
  audit: Record<string, unknown>;
  findings: string[];
  verdict: string;
  reason: string;
}

interface SeenTask {
  taskId: string;
  status: string;
  statusMessage?: string;
  inputRequests?: Record<string, { params: { message: string } }>;
  result?: { isError?: boolean; structuredContent?: unknown; content: { type: string; uri?: string }[] };
}

async function cli(...args: string[]): Promise<string> {
  const run = home.run(args);
  expect([await run.ended, run.stderr()]).toEqual([0, expect.anything()]);
  return run.stdout().trim();
}

async function detached(...args: string[]): Promise<string> {
  return cli('call', ...args, '--detach');
}

async function status(token: string): Promise<SeenTask> {
  return JSON.parse(await cli('status', token, '--json')) as SeenTask;
}

const reached = (token: string, wanted: string) =>
  eventually(`${token} is ${wanted}`, async () => (await status(token)).status === wanted, LIMIT_MS);

function artifact(token: string, name: string): string {
  return `longhaul://operations/${token}/artifacts/${encodeURIComponent(name)}`;
}

async function mcpClient() {
  return connect(new StreamableHTTPClientTransport(new URL(`${home.url}/mcp`)));
}

/** Calls a tool as a task; gives the task's ID. */
async function start(transport: CoordinatedTransport, name: string, args: object): Promise<string> {
  const answer = await transport.dispatch({
    method: 'tools/call',
    params: { name, arguments: args, ...envelope },
  });
  return (answer as unknown as { result: SeenTask }).result.taskId;
}

function until(client: Client, taskId: string, condition: (task: SeenTask) => boolean): Promise<SeenTask> {
  let task: SeenTask | undefined;
  return eventually(
    () => `the task is as expected; it is ${JSON.stringify(task)}`,
    async () => {
      task = (await client.request(
        { method: 'tasks/get', params: { taskId } },
        anything,
      )) as unknown as SeenTask;
      return condition(task) ? task : undefined;
    },
    LIMIT_MS,
  );
}

function ended(client: Client, taskId: string): Promise<SeenTask> {
  return until(client, taskId, ({ status }) => status === 'completed' || status === 'failed');
}

async function readArtifact(client: Client, token: string, name: string): Promise<Buffer> {
  const { contents } = await client.readResource({ uri: artifact(token, name) });
  const { text, blob } = contents[0] as { text?: string; blob?: string };
  return text === undefined ? Buffer.from(blob!, 'base64') : Buffer.from(text);
}

/** Expects the audit's result to be that of the registry itself and the package's file. */
async function expectSmallAudit(audit: Audit): Promise<void> {
  const { license, file } = await published(SMALL.package, SMALL.version);
  expect(audit).toMatchObject({
    version: SMALL.version,
    packed_bytes: file.length,
    installed_bytes: unpackedBytes(file),
    packages: 1,
    licences: { [license]: 1 },
  });
}

describe('audit_npm_package', () => {
  test('from the command line: a licence that nobody allowed is asked about, and accepted', async () => {
    const call = home.run([
      ...['call', 'audit_npm_package', '--package', SMALL.package, '--version', SMALL.version],
      ...['--allowed-licences', 'Apache-2.0'],
    ]);
    const asked = await eventually(
      () => `the question is asked; it said: ${call.stderr()}`,
      () => /question \S+: [^]*longhaul(?:\.js)? answer (\S+)/.exec(call.stderr()),
      LIMIT_MS,
    );
    const { license } = await published(SMALL.package, SMALL.version);
    expect(asked[0]).toContain('The audit has findings.');
    expect(asked[0]).toContain(`licence of is-number@7.0.0: ${license}`);
    await cli('answer', asked[1]!, '--field', 'reason=it is only used in tests');

    expect([await call.ended, call.stderr()]).toEqual([0, expect.anything()]);
    const audit = JSON.parse(await cli('result', asked[1]!, '--json')) as SeenTask;
    const result = audit.result!.structuredContent as Audit;
    expect(result).toMatchObject({
      audit: { available: true, critical: 0 },
      findings: [`licence of is-number@7.0.0: ${license}`],
      verdict: 'accepted',
      reason: 'it is only used in tests',
    });
    await expectSmallAudit(result);
  });

  test('from an MCP client: nothing is asked when nothing was found, and the files can be read', async () => {
    const { client, transport } = await mcpClient();
    const token = await start(transport, 'audit_npm_package', SMALL);
    const done = await ended(client, token);
    expect(done.status).toBe('completed');
    const result = done.result!.structuredContent as Audit;
    expect(result).toMatchObject({ findings: [], verdict: 'clean', reason: '' });
    await expectSmallAudit(result);
    expect(registry.audited.at(-1)).toEqual({ 'is-number': ['7.0.0'] });

    const { integrity } = await published(SMALL.package, SMALL.version);
    const file = await readArtifact(client, token, 'audit/is-number-7.0.0.tgz');
    expect(`sha512-${createHash('sha512').update(file).digest('base64')}`).toBe(integrity);
    const report = JSON.parse((await readArtifact(client, token, 'audit/report.json')).toString()) as object;
    expect(report).toMatchObject({ verdict: 'clean', tree: [{ name: 'is-number', version: '7.0.0' }] });
    const text = (await readArtifact(client, token, 'audit/report.md')).toString();
    expect(text).toMatch(/^# is-number@7\.0\.0: clean\n/);
  });

  test('from an MCP client: a critical vulnerability is asked about', async () => {
    registry.advisories = { minimist: [POLLUTION] };
    const { client, transport } = await mcpClient();
    const token = await start(transport, 'audit_npm_package', { package: 'minimist', version: '1.2.5' });
    const asking = await until(client, token, ({ status }) => status === 'input_required');
    const [key, question] = Object.entries(asking.inputRequests!)[0]!;
    expect(question.params.message).toContain('critical: Prototype Pollution in minimist (minimist)');
    const inputResponses = { [key]: { action: 'accept', content: { reason: 'our input is trusted' } } };
    await client.request({ method: 'tasks/update', params: { taskId: token, inputResponses } }, anything);

    const done = await ended(client, token);
    expect(done.result!.structuredContent).toMatchObject({
      audit: { available: true, critical: 1 },
      verdict: 'accepted',
      reason: 'our input is trusted',
    });
  });

  test('a registry without audits is a finding, and a person who declines gets the report all the same', async () => {
    registry.advisories = 'none';
    const token = await detached('audit_npm_package', '--package', SMALL.package, '--version', SMALL.version);
    await reached(token, 'input_required');
    await cli('answer', token, '--decline');
    expect(await home.run(['result', token, '--wait']).ended).toBe(1);

    const { client } = await mcpClient();
    const report = JSON.parse((await readArtifact(client, token, 'audit/report.json')).toString()) as Audit;
    expect(report.audit).toMatchObject({ available: false });
    expect(report.findings).toEqual([expect.stringContaining('the registry gives no audit')]);
    expect(report.verdict).toBe('open');
  });

  test.each(['../../etc', '--registry=http://127.0.0.1:1/', 'https://example.com/x.tgz', 'is-number; id'])(
    'takes names only, not %s',
    async (name) => {
      const run = home.run(['call', 'audit_npm_package', `--package=${name}`]);
      expect(await run.ended).toBe(2);
      expect(run.stderr()).toContain('package');
    },
  );
});

interface Tests {
  version: string;
  node: string;
  passed: number;
  failed: number;
  skipped: number;
  seconds: number;
  failures: string[];
}

const TESTED = { package: 'find-my-way', version: '9.9.0' };

describe('test_npm_package', () => {
  test('from the command line: the log is read while the tests run, and they are counted', async () => {
    const token = await detached(
      'test_npm_package',
      '--package',
      TESTED.package,
      '--version',
      TESTED.version,
    );
    const halfWay = await eventually(
      'some tests have run',
      async () => {
        const log = home.run(['logs', token, 'test/test']);
        const isThere = (await log.ended) === 0 && /✔ .+ms\)/.test(log.stdout());
        return isThere ? log.stdout() : undefined;
      },
      LIMIT_MS,
    );
    expect((await status(token)).status).toBe('working');
    expect(halfWay).not.toContain('ℹ pass');

    const result = JSON.parse(await cli('result', token, '--wait', '--json')) as SeenTask;
    const tests = result.result!.structuredContent as Tests;
    expect(tests).toMatchObject({ version: TESTED.version, node: process.version, failed: 0 });
    const { client } = await mcpClient();
    const junit = (await readArtifact(client, token, 'test/tests.junit.xml')).toString();
    expect(junit.match(/<testcase /g)).toHaveLength(tests.passed);
    const log = await cli('logs', token, 'test/test');
    expect(log.startsWith(halfWay.trimEnd())).toBe(true);
    expect(log).toContain(`ℹ pass ${tests.passed}`);
  });

  test('from an MCP client: it counts what the same files give elsewhere', async () => {
    const { client, transport } = await mcpClient();
    const token = await start(transport, 'test_npm_package', { ...TESTED, files: 'test/issue-2*.test.js' });
    const done = await ended(client, token);
    const { file } = await published(TESTED.package, TESTED.version);
    expect(done.result!.structuredContent).toMatchObject({
      passed: await passedHere(file, /^issue-2.*\.test\.js$/, registry.url),
      failed: 0,
      failures: [],
    });
  });

  test('a package without such tests fails, and the failure says so', async () => {
    const run = home.run([
      'call',
      'test_npm_package',
      '--package',
      SMALL.package,
      '--version',
      SMALL.version,
    ]);
    expect(await run.ended).toBe(1);
    expect(run.stdout() + run.stderr()).toContain('the package has no such tests');
  });
});

describe('sign_packages', () => {
  test('has a job for each package, and signs once somebody has agreed', async () => {
    const packages = ['is-number@7.0.0', 'is-odd@3.0.1', 'left-pad@1.3.0'];
    const token = await detached('sign_packages', '--packages', JSON.stringify(packages));
    await reached(token, 'input_required');
    await cli('answer', token, '--field', 'approve=true');
    const done = JSON.parse(await cli('result', token, '--wait', '--json')) as SeenTask;

    const originals = await Promise.all(
      packages.map((one) => published(...(one.split('@') as [string, string]))),
    );
    const { client } = await mcpClient();
    const list = await readArtifact(client, token, 'sign/SHA256SUMS');
    expect(list.toString()).toBe(
      originals.map(({ file }, at) => `${sha256(file)}  ./${packages[at]!.replace('@', '-')}.tgz\n`).join(''),
    );
    expect(done.result!.structuredContent).toEqual({
      integrity: originals.map(({ integrity }) => integrity),
      bytes: originals.reduce((sum, { file }) => sum + file.length, 0),
      signature: createHmac('sha256', SIGNING_KEY).update(list).digest('hex'),
    });
  });
});

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
