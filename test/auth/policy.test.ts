/** Roles: what callers may start, see and do, on every protocol. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { addApiKey } from '../../mcp-server/auth/key-store.js';
import { LegacyClient } from '../revision-2025-11-25/wire.js';
import { eventually, TestHome } from '../stack/cli-process.js';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { JobsClient } from '../support/jobs.js';
import { WireClient } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';

const ALL = {
  extensions: { 'io.modelcontextprotocol/tasks': {} },
  elicitation: {},
  experimental: { asyncTools: {}, twoStage: {} },
};
const POLICY = `
roles:
  starter: { members: [{ group: starters }], tools: ['confirm_*'], own: [read] }
  approver: { members: [{ group: approvers }], tenant: [read, answer] }
  operator: { members: [{ group: operators }], tools: ['*'], own: [operate], tenant: [operate] }
cases:
  - { name: starters, caller: { tenant: acme, subject: s, groups: [starters] }, can: [start confirm_delete], cannot: [start slow_compute, cancel own] }
  - { name: wrong, caller: { tenant: acme, subject: s }, can: [read own] }
`;
const keys = { starter: '', approver: '', operator: '', nobody: '' };
const wire = (key: string) => new WireClient(`${stack.base}/mcp`, ALL, 'longhaul-tests', key);
const jobs = (key: string) => new JobsClient(stack.base, key);
const call = async (key: string, name: string, args: object) => (await wire(key).call(name, args)) as any;

const folder = temporaryFolder('policy');
for (const role of ['starter', 'approver', 'operator', 'nobody'] as const)
  [keys[role]] = addApiKey(folder, { tenant: 'acme', subject: role, groups: [`${role}s`] });
const policy = join(folder, 'policy.yml');
writeFileSync(policy, POLICY);
// Own server: with API keys and a policy.
const stack = await forAllTests(
  TestStack.serverOnSharedWorker({
    LONGHAUL_AUTHENTICATION: 'keys',
    LONGHAUL_KEYS_FOLDER: folder,
    LONGHAUL_POLICY: policy,
  }),
);

test('tools that a caller may not start are neither listed, nor named, nor documented', async () => {
  const { result } = (await wire(keys.starter).request('tools/list')) as any;
  const names = result.tools
    .map(({ name }: any) => name)
    .filter((name: string) => !name.startsWith('operation_'));
  expect(names).not.toEqual([]);
  expect(names.every((name: string) => name.startsWith('confirm_'))).toBe(true);
  const legacy = await LegacyClient.open(
    `${stack.base}/mcp`,
    '2025-11-25',
    {},
    'longhaul-tests',
    keys.starter,
  );
  expect(JSON.stringify((await legacy.request('tools/list')).result)).not.toContain('slow_compute');
  for (const path of ['/v1/tools', '/openapi.json'])
    expect(JSON.stringify((await jobs(keys.starter).get(path)).body)).not.toContain('slow_compute');
  const nowhere = await call(keys.starter, 'no_such_tool', {});
  const hidden = await call(keys.starter, 'slow_compute', { seconds: 0 });
  expect(JSON.stringify(hidden.error).replaceAll('slow_compute', 'X')).toBe(
    JSON.stringify(nowhere.error).replaceAll('no_such_tool', 'X'),
  );
  expect((await jobs(keys.starter).kickOff('slow_compute', { seconds: 0 })).status).toBe(404);
  expect((await jobs(keys.starter).get('/v1/tools/slow_compute')).status).toBe(404);
  expect((await jobs(keys.operator).get('/v1/tools/slow_compute')).status).toBe(200);
});

test("verbs that no role allows are refused; an approver answers another's operation by its workflow ID", async () => {
  const token = await stack.client.as(keys.starter).start('confirm_delete', { filename: 'a.txt' });
  await stack.client.as(keys.starter).until(token, 'input_required');
  const cancel = await jobs(keys.starter).request('POST', `/v1/jobs/${token}:cancel`, {});
  expect([cancel.status, cancel.body.type]).toEqual([403, '/problems/not-allowed']);
  const answer = await call(keys.starter, 'operation_answer', { token, action: 'decline' });
  expect(answer.result).toMatchObject({ isError: true });
  expect(JSON.stringify(answer.result)).toContain('expected a role that may answer operations');
  const update = await wire(keys.starter).request('tasks/cancel', { taskId: token });
  expect(update.error).toMatchObject({ code: -32602, data: { kind: 'forbidden' } });

  let workflowId = '';
  await eventually('the approver lists it', async () => {
    const { result } = await call(keys.approver, 'operation_list', {
      everyone: true,
      status: 'input_required',
      limit: 100,
    });
    const found = result.structuredContent.operations.find((one: any) => one.token.endsWith(`.${token}`));
    expect(found?.owner ?? 'acme/starter').toBe('acme/starter');
    workflowId = found?.token ?? '';
    return workflowId !== '';
  });
  const seen = await call(keys.approver, 'operation_get', { token: workflowId });
  expect(seen.result.structuredContent).toMatchObject({ status: 'input_required', token: workflowId });
  const refused = await call(keys.approver, 'operation_cancel', { token: workflowId });
  expect(JSON.stringify(refused.result)).toContain("may cancel operations of others of the caller's tenant");
  const { status } = await jobs(keys.approver).request('POST', `/v1/jobs/${workflowId}/input`, {
    body: JSON.stringify({ key: 'input-1', value: { confirm: true } }),
    headers: { 'content-type': 'application/json' },
  });
  expect(status).toBe(200);
  await stack.client.as(keys.starter).until(token, 'completed');
  // Without a role: nothing, and the same for what exists and what doesn't.
  for (const unknown of [token, workflowId, 'nothing'])
    expect((await jobs(keys.nobody).get(`/v1/jobs/${unknown}`)).status).toBe(403);
  expect((await jobs(keys.approver).get('/v1/jobs')).status).toBe(200);
  expect((await jobs(keys.starter).get('/v1/jobs?user=all')).status).toBe(403);
});

test('an operator cancels and resumes what others started, and an edit of the policy ends a right', async () => {
  const owner = stack.client.as(keys.starter);
  const token = await owner.start('confirm_delete', { filename: 'b.txt' });
  await owner.until(token, 'input_required');
  let workflowId = '';
  await eventually('the operator lists it', async () => {
    const { body } = await jobs(keys.operator).get('/v1/jobs?user=all&limit=100');
    const found = body.jobs.find(({ job_id }: any) => job_id.endsWith(`.${token}`));
    workflowId = found?.job_id ?? '';
    return found !== undefined && found.user === 'acme/starter';
  });
  // 200 if it has ended by the time of the answer.
  const { status } = await jobs(keys.operator).request('POST', `/v1/jobs/${workflowId}:cancel`, {});
  expect([200, 202]).toContain(status);
  await owner.until(token, 'cancelled');
  writeFileSync(policy, POLICY.replace('tenant: [operate]', 'tenant: []'));
  await eventually('the right has ended', async () => {
    const { status } = await jobs(keys.operator).get(`/v1/jobs/${workflowId}`);
    return status === 404;
  });
  writeFileSync(policy, POLICY);
});

test('longhaul policy test prints each case, and fails with one that does not hold', async () => {
  const home = await TestHome.create();
  const run = async (...args: string[]) => {
    const command = home.run(['policy', 'test', ...args, '--file', policy]);
    return { code: await command.ended, stdout: command.stdout(), stderr: command.stderr() };
  };
  const all = await run();
  expect(all.code).toBe(1);
  expect(all.stdout).toContain('ok  starters');
  expect(all.stdout).toContain('FAILED  wrong\n  can: read own: it is not allowed\n1 ok, 1 failed');
  expect((await run('starters')).code).toBe(0);
  const unknown = await run('nothing');
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    expect.stringContaining('unknown case "nothing"; known are "starters", "wrong"'),
  ]);
});
