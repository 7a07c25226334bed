/** Server and worker whose storage is S3: values, logs and files; a store that is away, and comes back; wrong settings. */
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { artifactKey, stepLogPrefix } from '../../platform/storage/keys.js';
import { openStorage } from '../../platform/storage/index.js';
import { Links } from '../chaos/faults/links.js';
import { eventually, freePort } from '../stack/cli-process.js';
import { afterThisTest, forAllTests, inSetUp, temporaryFolder } from '../support/for-all-tests.js';
import { JobsClient } from '../support/jobs.js';
import { INSTALL_MS } from '../support/limits.js';
import { newNamespace } from '../support/namespace.js';
import { inheritedEnvironment } from '../support/run-temporal.js';
import { S3Server } from '../support/s3-server.js';
import { logText } from '../support/stored-log.js';
import { TestStack } from '../support/test-stack.js';

jest.setTimeout(INSTALL_MS);

const PROJECT = resolve('test/fixtures/storage-project');
const MB = 1_000_000;

const folder = temporaryFolder('storage');
const s3 = await forAllTests(S3Server.start('shared'));
const links = await forAllTests(Links.start());
const namespace = await inSetUp(newNamespace('storage'));
const port = await inSetUp(links.open('s3', s3.port));
// Own stack: its storage is S3, and no other operation is in its namespace.
const stack = await forAllTests(
  TestStack.start({
    ...s3.environment('s3://shared/stack', port),
    TEMPORAL_NAMESPACE: namespace,
    LONGHAUL_PROJECT: PROJECT,
    LONGHAUL_PIPELINE_FOLDERS: join(PROJECT, 'pipelines'),
  }),
);
Object.assign(process.env, s3.environment('s3://shared/stack'));
const storage = openStorage({
  home: folder,
  storage: 's3://shared/stack',
  storageEndpoint: s3.endpoint,
  storageRegion: 'us-east-1',
});

/** Keys of an operation in the bucket, by their kind. */
async function keysOf(token: string): Promise<string[]> {
  const found: string[] = [];
  for await (const key of storage.keys()) if (key.includes(`/${token}/`)) found.push(key);
  return found;
}

const job = (path: string) => new JobsClient(stack.base).get(`/v1/jobs/${path}`);
const readiness = () => new JobsClient(stack.base).get('/readyz');

/** Runs a command to its end. @returns its outputs, and its exit code or signal */
async function command(args: string[], environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, [resolve('dist/bin/longhaul.js'), ...args], {
    env: {
      ...inheritedEnvironment({ ...s3.environment('s3://shared/stack'), ...environment }),
      LONGHAUL_TASK_QUEUE: stack.taskQueue,
      TEMPORAL_NAMESPACE: namespace,
      ...s3.environment('s3://shared/stack'),
      ...environment,
    },
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const ended = new Promise<number | string>((settle) =>
    child.once('close', (code, signal) => settle(signal ?? code ?? -1)),
  );
  return { code: await ended, output, errors };
}

test('results, files and logs of operations are in the bucket, and are read from there', async () => {
  const token = await stack.client.start('stored_values', {
    fileBytes: 9 * MB,
    activityBytes: MB,
    resultBytes: MB,
  });
  const { result } = await stack.client.until(token, 'completed');
  expect(result.structuredContent).toMatchObject({ activityLength: MB });
  expect(result.structuredContent.text).toHaveLength(MB);
  const keys = await keysOf(token);
  expect(keys).toContain(artifactKey(token, 'values.txt'));
  expect(keys.filter((key) => key.startsWith('payloads/'))).toHaveLength(2);
  expect(keys.filter((key) => key.startsWith('logs/')).length).toBeGreaterThan(0);
  const file = await fetch(`${stack.base}/v1/jobs/${token}/artifacts/values.txt`, {
    headers: { range: 'bytes=1000-1999' },
  });
  expect(file.status).toBe(206);
  expect(await file.text()).toBe('f'.repeat(1_000));
  const { body } = await job(`${token}/logs/operation`);
  expect(JSON.stringify(body)).toContain('values are stored');
});

test('operations wait for a store that is away, say so, and complete once it is back', async () => {
  const done = await stack.client.start('stored_values', { activityBytes: 2, resultBytes: MB });
  await stack.client.until(done, 'completed');
  const talking = await stack.client.start('chatter', { seconds: 4, lines: 100 });
  await stack.client.until(talking, (task) => task.status === 'working');
  await links.fault('s3', 'cut');
  afterThisTest(() => links.heal('s3'));

  const tokens = {
    file: await stack.client.start('stored_values', { fileBytes: 100 }),
    activity: await stack.client.start('stored_values', { activityBytes: MB }),
    workflow: await stack.client.start('stored_values', { resultBytes: MB }),
  };
  const told = /waits? ?(?:ing)? ?for storage s3:\/\/shared\/stack at .*can't be reached/;
  for (const token of [...Object.values(tokens), talking])
    await stack.client.until(token, (task) => told.test(task.statusMessage ?? ''));
  // A plain operation needs no storage.
  await stack.client.until(await stack.client.start('stored_values', {}), 'completed');
  const { status, body } = await eventually('readiness names the store', async () => {
    const answer = await readiness();
    return answer.body.degraded && answer;
  });
  expect([status, body.status]).toEqual([200, 'ready']);
  expect(body.degraded).toEqual([expect.stringContaining("the store can't be reached")]);
  // The record is Temporal's.
  await eventually('the cached record has expired', async () => (await job(`${done}/result`)).status === 503);
  expect((await job(done)).body).toMatchObject({
    status: 'succeeded',
    status_message: expect.stringContaining("the result can't be read at present: storage s3://shared/stack"),
    result_url: expect.any(String),
    error: { kind: 'unavailable', retryable: true, message: expect.stringContaining("can't be reached") },
  });
  expect((await job(`${done}/result`)).body).toMatchObject({
    type: '/problems/unavailable',
    retryable: true,
    detail: expect.stringContaining("can't be reached"),
  });
  const { error } = await stack.client.request('tasks/get', { taskId: done });
  expect(error).toMatchObject({ data: { kind: 'unavailable', retryable: true } });
  const got = await stack.client.call('operation_get', { token: done });
  expect(got.result.structuredContent).toMatchObject({
    status: 'completed',
    error: { kind: 'unavailable', retryable: true },
  });
  await links.heal('s3');
  for (const [kind, token] of Object.entries(tokens)) {
    const { result } = await stack.client.until(token, 'completed');
    expect(result.structuredContent).toMatchObject({
      activityLength: kind === 'activity' ? MB : 0,
      text: 'r'.repeat(kind === 'workflow' ? MB : 0),
    });
  }
  await stack.client.until(talking, 'completed');
  expect((await logText(storage, stepLogPrefix(talking, 'talk', 1))).split('\n')).toHaveLength(401);
  const read = await stack.client.until(done, 'completed');
  expect(read.result.structuredContent.text).toHaveLength(MB);
});

test('settings that can not work end a worker with one line, and a server says so', async () => {
  for (const [environment, expected] of [
    [{ LONGHAUL_STORAGE: 's3://absent' }, 'there is no bucket absent'],
    [
      { LONGHAUL_STORAGE: 's3:/typo' },
      'LONGHAUL_STORAGE: expected "folder", or the bucket of S3 as s3://bucket',
    ],
  ] as const) {
    const { code, errors } = await command(['worker'], { ...environment });
    expect(errors.trim().split('\n').at(-1)).toContain(expected);
    expect(code).not.toBe(0);
  }
  const port = String(await freePort());
  const server = stack.server({ LONGHAUL_STORAGE: 's3://absent', LONGHAUL_PORT: port });
  await eventually('the server says so', async () => {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    return response?.status === 503 && (await response.text()).includes('there is no bucket absent');
  });
  await server.end();
  const doctor = await command(['doctor', '--json'], { LONGHAUL_STORAGE: 's3://absent' });
  const { findings } = JSON.parse(doctor.output);
  expect(findings.find(({ check }: { check: string }) => check === 'storage')).toMatchObject({
    status: 'fail',
    detail: expect.stringContaining('there is no bucket absent'),
  });
});

test('a worker with another storage is named', async () => {
  const other = stack.worker({ LONGHAUL_STORAGE: 's3://shared/other' });
  await eventually('the server names it', async () => {
    const { body } = await readiness();
    return body.degraded?.some((line: string) => line.includes('is another one'));
  });
  const { output } = await command(['doctor', '--json']);
  expect(JSON.parse(output).findings).toContainEqual(
    expect.objectContaining({ check: 'storage of workers', status: 'fail' }),
  );
  await other.end();
});

test('a command finds the values that operations name and storage has lost', async () => {
  expect((await command(['storage', 'check'])).output).toContain('works');
  const token = await stack.client.start('stored_values', { activityBytes: MB, resultBytes: MB });
  await stack.client.until(token, 'completed');
  const check = ['storage', 'check', '--operations'];
  const whole = await command([...check, '--json']);
  expect(JSON.parse(whole.output)).toMatchObject({ lost: [], workers: [{ check: 'storage of workers' }] });
  const key = (await keysOf(token)).find((one) => one.startsWith('payloads/'))!;
  await storage.remove(key);
  await eventually('the lost value is found', async () =>
    (await command(check)).output.includes(`lost, of ${token}: ${key}`),
  );
  const lacking = await command([...check, '--json']);
  expect(lacking.code).toBe(1);
  expect(JSON.parse(lacking.output)).toMatchObject({ lost: [{ workflowId: token, key }] });
});
