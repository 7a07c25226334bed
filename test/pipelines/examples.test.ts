/** The pipelines of examples/pipelines/, on packages of npm's registry. */
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createHash, createHmac } from 'node:crypto';
import { resolve } from 'node:path';
import { eventually, TestHome } from '../stack/cli-process.js';
import { INSTALL_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';
import { FrontRegistry, published, unpackedBytes } from './registry.js';

jest.setTimeout(INSTALL_MS);

const LIMIT_MS = 300_000;
const SIGNING_KEY = 'correct horse battery staple';
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
let client: WireClient;
beforeAll(async () => {
  registry = await FrontRegistry.start();
  home = await TestHome.create();
  await home.up({
    LONGHAUL_PIPELINE_FOLDERS: resolve('examples/pipelines'),
    LONGHAUL_STEP_ENVIRONMENT: 'NPM_CONFIG_REGISTRY',
    LONGHAUL_SECRET_SIGNING_KEY: SIGNING_KEY,
    NPM_CONFIG_REGISTRY: registry.url,
  });
  client = new WireClient(`${home.url}/mcp`);
});
afterEach(() => {
  registry.advisories = {};
});
afterAll(async () => {
  await home?.remove();
  await registry?.stop();
});

async function cli(...args: string[]): Promise<string> {
  const run = home.run(args);
  expect([await run.ended, run.stderr()]).toEqual([0, expect.anything()]);
  return run.stdout().trim();
}

async function resultOf(token: string): Promise<any> {
  const { result } = JSON.parse(await cli('result', token, '--wait', '--json'));
  return result.structuredContent;
}

async function readArtifact(token: string, name: string): Promise<Buffer> {
  const uri = `longhaul://operations/${token}/artifacts/${encodeURIComponent(name)}`;
  const { contents } = (await client.request('resources/read', { uri })).result;
  const [{ text, blob }] = contents;
  return text === undefined ? Buffer.from(blob, 'base64') : Buffer.from(text);
}

describe('audit_npm_package', () => {
  test('from the command line: what was found is asked about, and accepted', async () => {
    registry.advisories = { minimist: [POLLUTION] };
    const call = home.run([
      ...['call', 'audit_npm_package', '--package', 'minimist', '--version', '1.2.5'],
      ...['--allowed-licences', 'Apache-2.0'],
    ]);
    const asked = await eventually(
      () => `the question is asked; it said: ${call.stderr()}`,
      () => /question \S+: [^]*longhaul(?:\.js)? answer (\S+)/.exec(call.stderr()),
      LIMIT_MS,
    );
    const { license } = await published('minimist', '1.2.5');
    expect(asked[0]).toContain('The audit has findings.');
    expect(asked[0]).toContain(`licence of minimist@1.2.5: ${license}`);
    expect(asked[0]).toContain('critical: Prototype Pollution in minimist (minimist)');
    await cli('answer', asked[1]!, '--field', 'reason=it is only used in tests');

    expect([await call.ended, call.stderr()]).toEqual([0, expect.anything()]);
    expect(await resultOf(asked[1]!)).toMatchObject({
      audit: { available: true, critical: 1 },
      verdict: 'accepted',
      reason: 'it is only used in tests',
    });
  });

  test('from an MCP client: nothing is asked when nothing was found, and the files can be read', async () => {
    const token = await client.start('audit_npm_package', SMALL);
    const { result } = await client.until(token, 'completed', LIMIT_MS);
    const { license, integrity, file } = await published(SMALL.package, SMALL.version);
    expect(result.structuredContent).toMatchObject({
      version: SMALL.version,
      packed_bytes: file.length,
      installed_bytes: unpackedBytes(file),
      packages: 1,
      licences: { [license]: 1 },
      findings: [],
      verdict: 'clean',
      reason: '',
    });
    expect(registry.audited.at(-1)).toEqual({ 'is-number': ['7.0.0'] });

    const stored = await readArtifact(token, 'audit/is-number-7.0.0.tgz');
    expect(`sha512-${createHash('sha512').update(stored).digest('base64')}`).toBe(integrity);
    const report = JSON.parse((await readArtifact(token, 'audit/report.json')).toString());
    expect(report).toMatchObject({ verdict: 'clean', tree: [{ name: 'is-number', version: '7.0.0' }] });
    const text = (await readArtifact(token, 'audit/report.md')).toString();
    expect(text).toMatch(/^# is-number@7\.0\.0: clean\n/);
  });

  test('a registry without audits is a finding, and a person who declines gets the report all the same', async () => {
    registry.advisories = 'none';
    const token = await client.start('audit_npm_package', SMALL);
    await client.until(token, 'input_required', LIMIT_MS);
    await cli('answer', token, '--decline');
    expect(await home.run(['result', token, '--wait']).ended).toBe(1);

    const report = JSON.parse((await readArtifact(token, 'audit/report.json')).toString());
    expect(report).toMatchObject({
      audit: { available: false },
      findings: [expect.stringContaining('the registry gives no audit')],
      verdict: 'open',
    });
  });

  test('takes names only, not the options or commands of a shell', async () => {
    for (const name of ['--registry=http://127.0.0.1:1/', 'is-number; id']) {
      const run = home.run(['call', 'audit_npm_package', `--package=${name}`]);
      expect(await run.ended).toBe(2);
      expect(run.stderr()).toContain('package');
    }
  });
});

const TESTED = { package: 'find-my-way', version: '9.9.0' };

test('test_npm_package has a log that is read while the tests run, and counts them', async () => {
  const token = await client.start('test_npm_package', TESTED);
  const halfWay = await eventually(
    'some tests have run',
    async () => {
      const log = home.run(['logs', token, 'test/test']);
      const isThere = (await log.ended) === 0 && /✔ .+ms\)/.test(log.stdout());
      return isThere ? log.stdout() : undefined;
    },
    LIMIT_MS,
  );
  expect((await client.get(token)).status).toBe('working');
  expect(halfWay).not.toContain('ℹ pass');

  const tests: { passed: number } = await resultOf(token);
  expect(tests).toMatchObject({ version: TESTED.version, node: process.version, failed: 0 });
  const junit = (await readArtifact(token, 'test/tests.junit.xml')).toString();
  expect(junit.match(/<testcase /g)).toHaveLength(tests.passed);
  const log = await cli('logs', token, 'test/test');
  expect(log.startsWith(halfWay.trimEnd())).toBe(true);
  expect(log).toContain(`ℹ pass ${tests.passed}`);
});

test('test_npm_package fails for a package without such tests, and the failure says so', async () => {
  const small = ['--package', SMALL.package, '--version', SMALL.version];
  const run = home.run(['call', 'test_npm_package', ...small]);
  expect(await run.ended).toBe(1);
  expect(run.stdout() + run.stderr()).toContain('the package has no such tests');
});

test('sign_packages has a job for each package, and signs once somebody has agreed', async () => {
  const packages = ['is-number@7.0.0', 'is-odd@3.0.1', 'left-pad@1.3.0'];
  const token = await client.start('sign_packages', { packages });
  await client.until(token, 'input_required', LIMIT_MS);
  await cli('answer', token, '--field', 'approve=true');
  const signed = await resultOf(token);

  const originals = await Promise.all(
    packages.map((one) => published(...(one.split('@') as [string, string]))),
  );
  const list = await readArtifact(token, 'sign/SHA256SUMS');
  expect(list.toString()).toBe(
    originals.map(({ file }, at) => `${sha256(file)}  ./${packages[at]!.replace('@', '-')}.tgz\n`).join(''),
  );
  expect(signed).toEqual({
    integrity: originals.map(({ integrity }) => integrity),
    bytes: originals.reduce((sum, { file }) => sum + file.length, 0),
    signature: createHmac('sha256', SIGNING_KEY).update(list).digest('hex'),
  });
});

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
