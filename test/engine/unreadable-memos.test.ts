/** Operations whose memo can't be decoded: their fields come from another SDK's codec or storage, or aren't JSON. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Client } from '@temporalio/client';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { planWorkspaceSweep } from '../../activities/pipeline/sweep.js';
import { newToken, workflowIdOf } from '../../operations/token.js';
import { folderStorage } from '../../platform/storage/index.js';
import { readableMemos } from '../../platform/temporal/memo.js';
import { operationFile, operationFolder } from '../../worker/steps/layout.js';
import { documents, run } from '../cli/commands.js';
import { LegacyClient } from '../revision-2025-11-25/wire.js';
import { eventually } from '../stack/cli-process.js';
import { connectEngine } from '../support/engine.js';
import { afterAllTests, forAllTests, inSetUp, temporaryFolder } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';

const SECRET = Buffer.alloc(32, 7);
const TOOL = 'slow_compute';

const stack = await forAllTests(TestStack.shared());
const temporal = await stack.temporal();
const engine = await inSetUp(connectEngine(stack.taskQueue, { secret: SECRET }));
afterAllTests(() => engine.temporal.close());

const json = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const encoded = (encoding: string, data: string): Payload => ({
  metadata: { encoding: Buffer.from(encoding) },
  data: Buffer.from(data),
});
const BAD = {
  codec: encoded('binary/of-another-codec', 'xyz'),
  reference: encoded('json/protobuf', '{"claim": "elsewhere"}'),
  broken: encoded('json/plain', '{"stage": '),
};

const startMemo = (principal: string) => ({
  ...{ version: 1, tool: TOOL, principal, argumentsDigest: '', deadlineSeconds: 600 },
  ...{ keepAliveSeconds: 600, searchAttributes: true, attempt: 1 },
});

interface Start {
  principal?: string;
  token?: string;
  longhaul?: Payload;
  operation?: Payload;
}

/** Starts a workflow that no worker takes, with these fields. @returns its token */
async function begin({ principal = 'anonymous', token = newToken(), ...fields }: Start): Promise<string> {
  const { longhaul = json(startMemo(principal)), operation = json({ stage: 'fine' }) } = fields;
  await temporal.workflowService.startWorkflowExecution({
    namespace: 'default',
    workflowId: workflowIdOf(principal, token, SECRET),
    workflowType: { name: 'somebodys' },
    taskQueue: { name: `nobody-${randomUUID()}` },
    requestId: randomUUID(),
    workflowExecutionTimeout: { seconds: 600 as never },
    memo: { fields: { longhaul, operation } },
    searchAttributes: { indexedFields: { LonghaulPrincipal: json(principal), LonghaulTool: json(TOOL) } },
  });
  return token;
}

async function end(principal: string, token: string): Promise<void> {
  await temporal.workflow.getHandle(workflowIdOf(principal, token, SECRET)).terminate('test is over');
}

test('a row of a list says what of its operation cannot be read, and the others are as ever', async () => {
  const [principal, neighbour] = [`acme/${randomUUID()}`, `acme/${randomUUID()}`];
  const fine = await begin({ principal });
  const bad = await Promise.all([
    ...Object.values(BAD).map((longhaul) => begin({ principal, longhaul })),
    ...Object.values(BAD).map((operation) => begin({ principal, operation })),
  ]);
  const other = await begin({ principal: neighbour, longhaul: BAD.codec });
  const listOf = async (of: string, filter = {}) => (await engine.list(of, filter)).operations;
  const rows = await eventually('all are listed', async () => {
    const all = await listOf(principal);
    return all.length === bad.length + 1 ? all : undefined;
  });
  const byToken = new Map(rows.map((row) => [row.token, row]));
  expect(byToken.get(fine)).toMatchObject({ tool: TOOL, stage: 'fine', problem: undefined });
  for (const [index, token] of bad.entries()) {
    const field = index < 3 ? 'longhaul' : 'operation';
    const problem = expect.stringMatching(`^its memo can't be read: ${field} \\(.+\\)$`);
    expect(byToken.get(token)).toMatchObject({ tool: TOOL, status: 'working', problem });
    const record = await engine.read(principal, token);
    expect(record).toMatchObject({
      tool: TOOL,
      problem,
      statusMessage: expect.stringMatching(/can't be read/),
    });
    await expect(engine.read(neighbour, token)).rejects.toMatchObject({ kind: 'not_found' });
  }
  // Others of the tenant are named by workflow ID, with their owner.
  const tenant = await eventually('the neighbour is listed', async () => {
    const all = await listOf(principal, { wholeTenant: true, limit: 100 });
    return all.find(({ owner }) => owner === neighbour);
  });
  const workflowId = workflowIdOf(neighbour, other, SECRET);
  expect(tenant).toMatchObject({ token: workflowId, problem: expect.stringContaining('of-another-codec') });
  expect(await engine.ownerOf(workflowId)).toEqual({ principal: neighbour, token: other });
  await Promise.all([fine, ...bad].map((token) => end(principal, token)));
  await end(neighbour, other);
});

test('a closed one has its end, and no delete goes by a memo that nobody can read', async () => {
  const principal = `acme/${randomUUID()}`;
  const token = await begin({ principal, longhaul: BAD.codec });
  await end(principal, token);
  expect(await engine.read(principal, token)).toMatchObject({
    status: 'failed',
    statusMessage: expect.stringMatching(/^terminated by an operator: test is over; its memo can't be read/),
  });
  await expect(engine.delete(principal, token)).rejects.toMatchObject({
    kind: 'unavailable',
    retryable: false,
    message: expect.stringContaining('of-another-codec'),
  });
});

test('every list over the wire shows it beside the others', async () => {
  const [fine, first, second] = await Promise.all([
    begin({}),
    begin({ longhaul: BAD.codec }),
    begin({ operation: BAD.broken }),
  ]);
  const { jobs } = stack;
  const ofTool = async () => (await jobs.get(`/v1/jobs?tool=${TOOL}&limit=100`)).body.jobs as any[];
  const listed = await eventually('all are jobs', async () => {
    const all = new Map((await ofTool()).map((job) => [job.job_id, job]));
    return [fine, first, second].every((token) => all.has(token)) ? all : undefined;
  });
  expect(listed.get(fine)).not.toHaveProperty('problem');
  expect(listed.get(first)?.problem).toContain('longhaul (');
  expect(listed.get(second)?.problem).toContain('operation (');
  const { result } = await stack.client.call('operation_list', { tool: TOOL, limit: 100 });
  const row = result.structuredContent.operations.find((one: any) => one.token === first);
  expect(row.problem).toContain('longhaul (');
  expect(result.content[0].text).toContain("its memo can't be read: operation (");
  const args = ['list', '--tool', TOOL, '--limit', '100'];
  expect((await run(stack, args)).stdout).toContain("its memo can't be read: longhaul (");
  const [{ operations }] = documents<any>(await run(stack, [...args, '--json']));
  expect(operations.find((one: any) => one.token === second).problem).toContain('operation (');
  const session = await LegacyClient.open(`${stack.base}/mcp`, '2025-11-25');
  // Callers without authentication have no tasks/list, which reads each task as this does.
  const { result: task } = await session.request('tasks/get', { taskId: first });
  expect(task.statusMessage).toContain('longhaul (');
  const { status, body } = await jobs.get(`/v1/jobs/${first}`);
  expect([status, body.status_message]).toEqual([200, expect.stringContaining('longhaul (')]);
  await Promise.all([fine, first, second].map((token) => end('anonymous', token)));
});

test('a sweep of workspaces keeps its workspace, and removes others', async () => {
  const home = temporaryFolder('sweep');
  const bad = await begin({ longhaul: BAD.reference });
  await end('anonymous', bad);
  const unknown = `0-${randomUUID()}`;
  for (const workflowId of [bad, unknown]) {
    const folder = operationFolder(home, workflowId);
    mkdirSync(folder, { recursive: true });
    writeFileSync(operationFile(folder), JSON.stringify({ workflowId, namespace: 'default' }));
  }
  const { connection } = temporal;
  const client = new Client({ connection, interceptors: { workflow: [readableMemos({})] } });
  const names: string[] = [];
  const storage = folderStorage(mkdtempSync(join(tmpdir(), 'longhaul-sweep-')));
  for await (const { name } of planWorkspaceSweep(home, storage, client, Date.now())) names.push(name);
  expect(names).toEqual([unknown]);
});
