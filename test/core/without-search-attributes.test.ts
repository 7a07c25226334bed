/** Namespaces whose search attributes are missing or of another type, or whose authorizer refuses some calls. */
import { spawn } from 'node:child_process';
import { afterEach, expect, test } from '@jest/globals';
import { findTemporalBinary } from '../../stack/temporal/binary.js';
import { loadSettings } from '../../platform/settings/index.js';
import { run } from '../cli/commands.js';
import { eventually, freePort } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { newNamespace } from '../support/namespace.js';
import { operatorVariables } from '../support/run-temporal.js';
import { TemporalProxy, type Decide } from '../support/temporal-proxy.js';
import { TestStack, type Part } from '../support/test-stack.js';

/** As many as Temporal's own store has room for. */
const TAKEN = Array.from({ length: 10 }, (_, index) => `Taken${index}=Keyword`);
const PERMISSION_DENIED = { code: 7, message: 'Request unauthorized.' };

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A Temporal of the test's own, with these search attributes. @returns its address */
async function startTemporal(attributes: readonly string[]): Promise<string> {
  const { binFolder } = await loadSettings();
  const { path } = await findTemporalBinary({ binFolder }, () => undefined);
  const port = await freePort();
  const server = ['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--port', String(port)];
  const flags = attributes.flatMap((attribute) => ['--search-attribute', attribute]);
  const temporal = spawn(path, [...server, ...flags], { stdio: 'ignore' });
  ends.push(() => void temporal.kill('SIGKILL'));
  return `127.0.0.1:${port}`;
}

async function startStack(environment: Record<string, string>): Promise<TestStack> {
  // Own stack: its namespace lacks search attributes, or a proxy refuses calls.
  const stack = await TestStack.start(environment);
  ends.push(() => stack.stop());
  return stack;
}

/** A stack behind a proxy that decides about its calls. */
async function startStackBehind(
  decide: Decide,
  environment: Record<string, string> = {},
): Promise<{ stack: TestStack; proxy: TemporalProxy }> {
  const proxy = await TemporalProxy.start(decide);
  ends.push(() => proxy.close());
  return { stack: await startStack({ TEMPORAL_ADDRESS: proxy.address, ...environment }), proxy };
}

/** Runs a tool that asks, and answers. @returns its token */
async function complete({ client }: TestStack): Promise<string> {
  const taskId = await client.start('confirm_delete', { filename: 'plain.txt' });
  const task = await client.until(taskId, 'input_required');
  await client.answer(taskId, Object.keys(task.inputRequests)[0]!, {
    action: 'accept',
    content: { confirm: true },
  });
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
    const { result } = await client.request('tools/call', {
      name: 'operation_list',
      // Open ones of other tests come first.
      arguments: { tool: 'confirm_delete', status: 'completed', limit: 100 },
    });
    return JSON.stringify(result).includes(token);
  });
}

async function expectWarning({ parts }: TestStack, text: string, ...only: Part[]): Promise<void> {
  await eventually(`the server has logged: ${text}`, () =>
    (only.length ? only : parts).some((part) => part.output().includes(text)),
  );
}

test(
  'without them all but lists works, and the log names them and the remedy, or why they cannot be created',
  async () => {
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
      stack.server({
        LONGHAUL_PORT: String(await freePort()),
        LONGHAUL_SEARCH_ATTRIBUTES: 'create',
      }),
    );
  },
  PROCESSES_MS,
);

test(
  'those of session and key may be missing where keywords are scarce: other lists work, and keys too',
  async () => {
    const needed = ['LonghaulPrincipal', 'LonghaulTool', 'LonghaulStatus'].map((name) => `${name}=Keyword`);
    const address = await startTemporal([...needed, ...TAKEN.slice(needed.length)]);
    const stack = await startStack({ TEMPORAL_ADDRESS: address });
    await expectListed(stack, await complete(stack));
    const start = async () => {
      const args = { seconds: 0, idempotency_key: 'once' };
      const { result } = await stack.client
        .with({})
        .request('tools/call', { name: 'slow_compute', arguments: args });
      return result.structuredContent.token;
    };
    expect(await start()).toBe(await start());
    for (const filter of [{ session: 'mine' }, { idempotency_key: 'once' }]) {
      const { result } = await stack.client.request('tools/call', {
        name: 'operation_list',
        arguments: filter,
      });
      expect(result).toMatchObject({ isError: true, _meta: { 'longhaul/error': { kind: 'unavailable' } } });
      expect(result.content[0].text).toMatch(/lacks the search attribute Longhaul(Session|IdempotencyKey)/);
    }
    await expectWarning(stack, 'LonghaulSession');
    // Also asked to, it has no room for them.
    // The run's certificates are for another Temporal.
    const certificates = Object.keys(process.env).filter((name) => name.startsWith('TEMPORAL_TLS'));
    const unset = Object.fromEntries(certificates.map((name) => [name, undefined]));
    const environment = { ...unset, TEMPORAL_ADDRESS: address };
    const { stdout } = await run(stack, ['doctor', '--fix'], { environment });
    const [line] = stdout.split('\n').filter((one) => one.includes('search attributes'));
    expect(line).toMatch(/^ok .*LonghaulSession: .*LonghaulIdempotencyKey: .*room for 0 more keywords of 10/);
  },
  PROCESSES_MS,
);

test(
  'one of another type counts as missing, also one whose type only a start reveals',
  async () => {
    for (const type of ['Text', 'Int']) {
      const names = ['LonghaulPrincipal', 'LonghaulStatus', 'LonghaulSession', 'LonghaulIdempotencyKey'];
      const address = await startTemporal([
        `LonghaulTool=${type}`,
        ...names.map((name) => `${name}=Keyword`),
      ]);
      const stack = await startStack({ TEMPORAL_ADDRESS: address });
      await complete(stack);
      await expectNoLists(stack, "lists don't work");
      await expectWarning(stack, 'LonghaulTool');
      await expectWarning(stack, type);
    }
  },
  PROCESSES_MS * 2,
);

test(
  'they are created on request, in a namespace that lacks them',
  async () => {
    const stack = await startStack({
      TEMPORAL_NAMESPACE: await newNamespace('bare', { searchAttributes: false }),
      LONGHAUL_SEARCH_ATTRIBUTES: 'create',
      ...operatorVariables(),
    });
    await expectListed(stack, await complete(stack));
  },
  PROCESSES_MS,
);

test(
  'they are used where the operator service is refused',
  async () => {
    const { stack, proxy } = await startStackBehind(({ service }) =>
      service.includes('operatorservice') ? PERMISSION_DENIED : undefined,
    );
    await expectListed(stack, await complete(stack));
    expect([...proxy.calls.keys()].filter((method) => method.endsWith('SearchAttributes'))).toEqual([]);
  },
  PROCESSES_MS,
);

test(
  'credentials that may not read visibility or the namespace, or cancel, can do all else',
  async () => {
    const proxy = await TemporalProxy.start(({ method }) =>
      /^(Count|List)Workflow|^(DescribeNamespace|RequestCancelWorkflowExecution)$/.test(method)
        ? PERMISSION_DENIED
        : undefined,
    );
    ends.push(() => proxy.close());
    const stack = await TestStack.serverAlone({ TEMPORAL_ADDRESS: proxy.address });
    ends.push(() => stack.stop());
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
  },
  PROCESSES_MS,
);
