/** The audit log of a running server: who did what, over every protocol. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { addApiKey, revokeApiKey } from '../../mcp-server/auth/key-store.js';
import { selectAuditLines, type AuditFilter, type AuditLine } from '../../mcp-server/audit/log/select.js';
import { LegacyClient } from '../revision-2025-11-25/wire.js';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { JobsClient } from '../support/jobs.js';
import { WireClient } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';

const MAIN = resolve('dist/bin/longhaul.js');
const POLICY = `
roles:
  staff: { members: [{ group: staff }], tools: ['*'], own: [operate] }
  starter: { members: [{ group: starters }], tools: ['confirm_*'], own: [read] }
`;

const lines = (filter: AuditFilter = {}) => selectAuditLines(audit, filter);
const wire = (credential?: string) => new WireClient(`${stack.base}/mcp`, undefined, undefined, credential);
const jobs = (credential?: string) => new JobsClient(stack.base, credential);
/** The lines of one operation, as `event outcome`. */
const about = async (operation: string) =>
  (await lines({ operation })).map(({ event, outcome }) => `${event} ${outcome}`);

/** Runs the command line. */
function cli(args: string[]): { status: number; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    env: { ...process.env, NODE_OPTIONS: '', LONGHAUL_AUDIT_LOG: audit },
    encoding: 'utf8',
  });
  return { status: status ?? -1, output: stdout + stderr };
}

const home = temporaryFolder('audit');
const audit = join(home, 'audit');
const keysFolder = join(home, 'keys');
const [text, { id }] = addApiKey(keysFolder, { tenant: 'acme', subject: 'alice', groups: ['staff'] });
const [key, keyId] = [text, id];
const policy = join(home, 'policy.yml');
writeFileSync(policy, POLICY);
// Own server: with an audit log, API keys and a policy.
const stack = await forAllTests(
  TestStack.serverOnSharedWorker({
    LONGHAUL_AUTHENTICATION: 'keys',
    LONGHAUL_KEYS_FOLDER: keysFolder,
    LONGHAUL_POLICY: policy,
    LONGHAUL_AUDIT_LOG: audit,
  }),
);

test('a line says who, by which credential and protocol, from where, did what', async () => {
  const token = await wire(key).start('slow_compute', { seconds: 0, label: 'hidden-argument' });
  await wire(key).until(token, 'completed');
  const [start, result] = await lines({ operation: token });
  expect(start).toMatchObject({
    event: 'operation.start',
    principal: 'acme/alice',
    credential: { kind: 'key', id: keyId },
    protocol: 'mcp 2026-07-28',
    transport: 'http',
    address: '127.0.0.1',
    operation: token,
    tool: 'slow_compute',
    outcome: 'ok',
  });
  expect(new Date(start!.time).toISOString()).toBe(start!.time);
  expect(result).toMatchObject({ event: 'operation.result', operation: token, outcome: 'ok' });
});

test('answers, cancels and deletes have lines, on every protocol', async () => {
  const session = await LegacyClient.open(`${stack.base}/mcp`, '2025-11-25', { tasks: {} }, 'tests', key);
  const tool = (name: string, args: object) => session.call(name, args);

  const asked = await jobs(key).start('confirm_delete', { filename: 'hidden-argument' });
  await wire(key).until(asked, 'input_required');
  await wire(key).answer(asked, 'input-1', { action: 'accept', content: { confirm: true } });
  await wire(key).until(asked, 'completed');
  await jobs(key).post(`/v1/jobs/${asked}:delete`);
  expect(await about(asked)).toEqual([
    'operation.start ok',
    'operation.answer ok',
    'operation.result ok',
    'operation.delete ok',
  ]);
  expect((await lines({ operation: asked })).map(({ protocol }) => protocol)).toEqual([
    'http-jobs',
    'mcp 2026-07-28',
    'mcp 2026-07-28',
    'http-jobs',
  ]);

  const slow = await wire(key).start('slow_compute', { seconds: 300 });
  await tool('operation_cancel', { token: slow, reason: 'hidden-reason' });
  await wire(key).until(slow, 'cancelled');
  const [cancel] = await lines({ operation: slow, event: 'operation.cancel' });
  expect(cancel).toMatchObject({ protocol: 'mcp 2025-11-25', outcome: 'ok', principal: 'acme/alice' });
});

test('results, logs, artifacts and lists have one line each for a protocol, however often they are read', async () => {
  const token = await wire(key).start('slow_compute', { seconds: 0 });
  await wire(key).until(token, 'completed');
  for (let round = 0; round < 3; round++) {
    await wire(key).get(token);
    await jobs(key).get(`/v1/jobs/${token}/logs/operation`);
    await jobs(key).get(`/v1/jobs/${token}/artifacts`);
    await jobs(key).get(`/v1/jobs/${token}/artifacts/none.txt`);
    await jobs(key).get('/v1/jobs');
  }
  const events = await about(token);
  expect(events.filter((event) => event.startsWith('operation.logs'))).toHaveLength(1);
  const results = (await lines({ operation: token, event: 'operation.result' })).map(
    ({ protocol }) => protocol,
  );
  expect(results).toEqual(['mcp 2026-07-28', 'http-jobs']);
  expect(events.filter((event) => event === 'operation.artifact not_found')).toHaveLength(1);
  const listed = await lines({ event: 'operations.list' });
  expect(listed.filter(({ protocol }) => protocol === 'http-jobs')).toHaveLength(1);
});

test("another caller's attempts are refused, with a line that names the caller", async () => {
  const token = await wire(key).start('slow_compute', { seconds: 0 });
  const [other] = addApiKey(keysFolder, { tenant: 'acme', subject: 'mallory', groups: ['staff'] });
  await wire(other).request('tasks/get', { taskId: token });
  await wire(other).request('tasks/cancel', { taskId: token });
  const refused = (await lines({ operation: token })).filter(({ principal }) => principal === 'acme/mallory');
  expect(refused.map(({ event, outcome }) => [event, outcome])).toEqual([
    ['operation.read', 'not_found'],
    ['operation.cancel', 'not_found'],
  ]);
});

test('a refused start has a line without its arguments', async () => {
  const answer = await jobs(key).kickOff('slow_compute', { seconds: 'hidden-argument' });
  expect([answer.status, answer.body.type]).toEqual([400, '/problems/invalid-arguments']);
  const refused = (await lines({ event: 'operation.start' })).filter(({ outcome }) => outcome !== 'ok');
  expect(refused).toMatchObject([{ tool: 'slow_compute', outcome: 'invalid_arguments' }]);
});

test('refused credentials have lines, with the ID of a key', async () => {
  const [text, { id }] = addApiKey(keysFolder, { tenant: 'acme', subject: 'bob' });
  revokeApiKey(keysFolder, id);
  const before = (await lines({ event: 'authentication.refused' })).length;
  expect((await jobs().get('/v1/jobs')).status).toBe(401);
  expect((await wire(text).request('tools/list')).httpStatus).toBe(401);
  expect((await lines({ event: 'authentication.refused' })).slice(before)).toMatchObject([
    { address: '127.0.0.1', protocol: 'http-jobs', outcome: 'no_credential' },
    {
      address: '127.0.0.1',
      protocol: 'mcp 2026-07-28',
      outcome: 'invalid_token',
      credential: { kind: 'key', id },
    },
  ]);
});

test("what a caller's roles do not permit has lines, under the caller who tried", async () => {
  const [text] = addApiKey(keysFolder, { tenant: 'acme', subject: 'carol', groups: ['starters'] });
  const carol = stack.client.as(text);
  const token = await carol.start('confirm_delete', { filename: 'a.txt' });
  await carol.request('tasks/cancel', { taskId: token });
  await carol.call('slow_compute', { seconds: 0 });
  const refused = (await lines({ principal: 'acme/carol' })).filter(({ outcome }) => outcome !== 'ok');
  expect(refused.map(({ event, outcome, tool, operation }) => [event, outcome, tool ?? operation])).toEqual([
    ['operation.cancel', 'forbidden', token],
    ['tool.refused', 'unknown_tool', 'slow_compute'],
  ]);
});

test('the log holds no arguments, answers, reasons, credentials or tokens of credentials', async () => {
  await wire(key).request('tasks/get', { taskId: key });
  await wire(key).request('tasks/get', { taskId: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl' });
  const text = readdirSync(audit)
    .map((name) => readFileSync(join(audit, name), 'utf8'))
    .join('');
  expect(text).not.toMatch(/hidden-|lh_[0-9a-f]{12}_|eyJ|"confirm"/);
  expect(text).toContain('"event":"operation.read"');
});

test('longhaul audit lists lines', () => {
  const listed = cli(['audit', '--principal', 'acme/alice', '--event', 'operation.start']);
  expect(listed.output).toMatch(/^TIME +EVENT +OUTCOME +PRINCIPAL +FROM +OPERATION +TOOL$/m);
  expect(listed.output).not.toContain('operation.result');
  expect(cli(['audit', '--since', 'yesterday']).status).toBe(2);
  const json = cli(['audit', '--json']).output.trim().split('\n');
  expect(json.map((line) => (JSON.parse(line) as AuditLine).event)).toContain('operation.start');
  expect(cli(['audit', '--audit-log', join(home, 'nothing')])).toMatchObject({
    status: 1,
    output: expect.stringContaining('expected the folder of an audit log; got ENOENT'),
  });
});
