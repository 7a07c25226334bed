/** Namespaces whose search attributes are missing or of another type, or whose authorizer refuses some calls. */
import { spawn } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { findTemporalBinary } from '../../stack/temporal/binary.js';
import { loadSettings } from '../../platform/settings/index.js';
import { run } from '../cli/commands.js';
import { eventually, freePort } from '../stack/cli-process.js';
import { afterThisTest, forThisTest } from '../support/for-all-tests.js';
import { newNamespace } from '../support/namespace.js';
import { operatorVariables } from '../support/run-temporal.js';
import { TemporalProxy } from '../support/temporal-proxy.js';
import { TestStack, type Part } from '../support/test-stack.js';

/** As many as Temporal's own store has room for. */
const TAKEN = Array.from({ length: 10 }, (_, index) => `Taken${index}=Keyword`);
const PERMISSION_DENIED = { code: 7, message: 'Request unauthorized.' };

/** A Temporal of the test's own, with these search attributes. @returns its address */
async function startTemporal(attributes: readonly string[]): Promise<string> {
  const { binFolder } = await loadSettings();
  const { path } = await findTemporalBinary({ binFolder }, () => undefined);
  const port = await freePort();
  const server = ['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--port', String(port)];
  const flags = attributes.flatMap((attribute) => ['--search-attribute', attribute]);
  const temporal = spawn(path, [...server, ...flags], { stdio: 'ignore' });
  afterThisTest(() => temporal.kill('SIGKILL'));
  return `127.0.0.1:${port}`;
}

// Own stacks in this file: their namespaces lack search attributes, or a proxy refuses calls.
const startStack = (environment: Record<string, string>): Promise<TestStack> =>
  forThisTest(TestStack.start(environment));

/** Runs a tool that asks, and answers. @returns its token */
async function complete({ client }: TestStack): Promise<string> {
  const taskId = await client.start('confirm_delete', { filename: 'plain.txt' });
  await client.accept(taskId, { confirm: true });
  await client.until(taskId, 'completed');
  return taskId;
}

async function expectNoLists({ client }: TestStack, text: string): Promise<void> {
  const { result } = await client.request('tools/call', { name: 'operation_list' });
  expect(result).toMatchObject({
    isError: true,
    content: expect.arrayContaining([{ type: 'text', text: expect.stringContaining(text) }]),
    _meta: { 'longhaul/error': { kind: 'unavailable', retryable: false } },
  });
}

async function expectListed({ client }: TestStack, token: string): Promise<void> {
  await eventually('the operation is listed', async () => {
    const { result } = await client.call('operation_list', {
      tool: 'confirm_delete',
      status: 'completed',
      limit: 100,
    });
    return JSON.stringify(result).includes(token);
  });
}

async function expectWarning({ parts }: TestStack, text: string, ...only: Part[]): Promise<void> {
  await eventually(`the server has logged: ${text}`, () =>
    (only.length ? only : parts).some((part) => part.output().includes(text)),
  );
}

test('without them all but lists works, and the log names them and the remedy, or why they cannot be created', async () => {
  const address = await startTemporal(TAKEN);
  const stack = await startStack({ TEMPORAL_ADDRESS: address });
  await complete(stack);
  await expectNoLists(stack, "lists don't work");
  await expectWarning(stack, 'LonghaulTool');
  await expectWarning(stack, 'doctor --fix');
  // Own server: it is to create them.
  await expectWarning(
    stack,
    "can't be created",
    stack.server({ LONGHAUL_PORT: String(await freePort()), LONGHAUL_SEARCH_ATTRIBUTES: 'create' }),
  );
});

test('those of session and key may be missing where keywords are scarce: other lists work, and keys too', async () => {
  const needed = ['LonghaulPrincipal', 'LonghaulTool', 'LonghaulStatus'].map((name) => `${name}=Keyword`);
  const address = await startTemporal([...needed, ...TAKEN.slice(needed.length)]);
  const stack = await startStack({ TEMPORAL_ADDRESS: address });
  await expectListed(stack, await complete(stack));
  const start = async () => {
    const args = { seconds: 0, idempotency_key: 'once' };
    const { result } = await stack.client.with({}).call('slow_compute', args);
    return result.structuredContent.token;
  };
  expect(await start()).toBe(await start());
  for (const filter of [{ session: 'mine' }, { idempotency_key: 'once' }]) {
    const { result } = await stack.client.call('operation_list', filter);
    expect(result).toMatchObject({ isError: true, _meta: { 'longhaul/error': { kind: 'unavailable' } } });
    expect(result.content[0].text).toMatch(/lacks the search attribute Longhaul(Session|IdempotencyKey)/);
  }
  await expectWarning(stack, 'LonghaulSession');
  // Also asked to, it has no room for them.
  const { stdout } = await run(stack, ['doctor', '--fix'], { environment: { TEMPORAL_ADDRESS: address } });
  const [line] = stdout.split('\n').filter((one) => one.includes('search attributes'));
  expect(line).toMatch(/^ok .*LonghaulSession: .*LonghaulIdempotencyKey: .*room for 0 more keywords of 10/);
});

test('one of another type counts as missing, also one whose type only a start reveals', async () => {
  for (const type of ['Text', 'Int']) {
    const names = ['LonghaulPrincipal', 'LonghaulStatus', 'LonghaulSession', 'LonghaulIdempotencyKey'];
    const address = await startTemporal([`LonghaulTool=${type}`, ...names.map((name) => `${name}=Keyword`)]);
    const stack = await startStack({ TEMPORAL_ADDRESS: address });
    await complete(stack);
    await expectNoLists(stack, "lists don't work");
    await expectWarning(stack, 'LonghaulTool');
    await expectWarning(stack, type);
  }
});

test('they are created on request, in a namespace that lacks them', async () => {
  const stack = await startStack({
    TEMPORAL_NAMESPACE: await newNamespace('bare', { searchAttributes: false }),
    LONGHAUL_SEARCH_ATTRIBUTES: 'create',
    ...operatorVariables(),
  });
  await expectListed(stack, await complete(stack));
});

test('they are used where the operator service is refused', async () => {
  const proxy = await forThisTest(
    TemporalProxy.start(({ service }) =>
      service.includes('operatorservice') ? PERMISSION_DENIED : undefined,
    ),
  );
  const stack = await startStack({ TEMPORAL_ADDRESS: proxy.address });
  await expectListed(stack, await complete(stack));
  expect([...proxy.calls.keys()].filter((method) => method.endsWith('SearchAttributes'))).toEqual([]);
});

test('credentials that may not read visibility or the namespace, or cancel, can do all else', async () => {
  const proxy = await forThisTest(
    TemporalProxy.start(({ method }) =>
      /^(Count|List)Workflow|^(DescribeNamespace|RequestCancelWorkflowExecution)$/.test(method)
        ? PERMISSION_DENIED
        : undefined,
    ),
  );
  const stack = await forThisTest(TestStack.serverAlone({ TEMPORAL_ADDRESS: proxy.address }));
  // Temporal's SDK has workers describe their namespace.
  stack.worker({ TEMPORAL_ADDRESS: process.env['TEMPORAL_ADDRESS']! });
  await stack.ready();
  await complete(stack);
  await expectNoLists(stack, 'credentials');
  await expectWarning(stack, 'may not read visibility');
  await expectWarning(stack, "may not read the namespace's retention");
  const taskId = await stack.client.start('confirm_delete', { filename: 'plain.txt' });
  const { error } = await stack.client.request('tasks/cancel', { taskId });
  expect(error).toMatchObject({ message: expect.stringContaining('credentials') });
  await stack.client.until(taskId, 'input_required');
});
