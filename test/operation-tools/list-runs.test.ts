import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { documents, run } from '../cli/commands.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { newNamespace } from '../support/namespace.js';
import { TestStack } from '../support/test-stack.js';

const COUNT = 12;
const ROUNDS = 8;
const PAUSE_MS = 400;

interface Row {
  token: string;
  status: string;
  createdAt?: string;
}
interface Page {
  rows: Row[];
  next?: string;
}
/** A way to list operations. */
type List = (filter?: { limit?: number; cursor?: string; status?: string }) => Promise<Page>;

/** This file has its own, since lists show a whole namespace. */
const namespace = await newNamespace('list-runs');
// A stack of its own, in its own namespace.
const parts = await forAllTests(
  TestStack.start({
    LONGHAUL_PROJECT: resolve('test/operation-tools/project'),
    TEMPORAL_NAMESPACE: namespace,
  }),
);

const operationList: List = async (filter = {}) => {
  const { result } = await parts.client.call('operation_list', {
    limit: 100,
    ...(filter.cursor === undefined ? { tool: 'rounds' } : {}),
    ...filter,
  });
  const { operations, next_cursor } = result.structuredContent;
  return {
    rows: operations.map(({ created_at, ...row }: any) => ({ ...row, createdAt: created_at })),
    ...(next_cursor === undefined ? {} : { next: next_cursor }),
  };
};

const jobs: List = async () => {
  const body = (await (await fetch(`${parts.base}/v1/jobs?limit=100&tool=rounds`)).json()) as any;
  return {
    rows: body.jobs.map(({ job_id, created_at, status }: any) => ({
      token: job_id,
      status,
      createdAt: created_at,
    })),
  };
};

const commandLine: List = async () => {
  const [page] = documents<{ operations: Row[] }>(
    await run(parts, ['list', '--tool', 'rounds', '--limit', '100', '--json']),
  );
  return { rows: page!.operations };
};

function start(rounds = ROUNDS, pauseMs = PAUSE_MS): Promise<string> {
  return parts.client.start('rounds', { rounds, pauseMs });
}

/** How often each of these tokens is listed. */
function countsOf(rows: Row[], tokens: string[]): number[] {
  return tokens.map((token) => rows.filter((row) => row.token === token).length);
}

async function statusIn(list: List, token: string, filter?: Parameters<List>[0]): Promise<string[]> {
  return (await list(filter)).rows.filter((row) => row.token === token).map(({ status }) => status);
}

test('an operation that continues as new under load has one row, all the time and after it has completed', async () => {
  const tokens = await Promise.all(Array.from({ length: COUNT }, () => start()));
  const once = tokens.map(() => 1);
  await eventually('all are listed', async () => (await operationList()).rows.length >= COUNT);
  const lists = { operationList, jobs, commandLine };
  const isOver = async () =>
    (await Promise.all(tokens.map((token) => parts.client.get(token)))).every(
      ({ status }) => status === 'completed',
    );
  let looks = 0;
  do {
    looks += 1;
    for (const list of [operationList, jobs])
      expect({ looks, counts: countsOf((await list()).rows, tokens) }).toEqual({ looks, counts: once });
  } while (!(await isOver()));
  expect(looks).toBeGreaterThan(3);

  const first = new Map<string, string>();
  for (const token of tokens) first.set(token, (await parts.client.get(token)).createdAt);
  await eventually('the list has them as completed', async () => {
    const { rows } = await operationList({ status: 'completed' });
    return countsOf(rows, tokens).every((count) => count === 1);
  });
  for (const list of Object.values(lists)) {
    const { rows } = await list();
    const own = rows.filter(({ token }) => first.has(token));
    expect(countsOf(rows, tokens)).toEqual(once);
    for (const { token, status, createdAt } of own) {
      expect(status).toMatch(/^(completed|succeeded)$/);
      expect(createdAt).toBe(first.get(token));
    }
  }
  for (const status of ['running', 'failed', 'cancelled'])
    expect(countsOf((await operationList({ status })).rows, tokens)).toEqual(tokens.map(() => 0));
});

test('since is about the start of the operation, not of its current run', async () => {
  const token = await start(1000, 500);
  await eventually(
    'it is in a later run',
    async () => (await parts.client.get(token))._meta['longhaul/progress']?.stage !== '1000 to go',
  );
  const since = new Date().toISOString();
  const stage = async () => (await parts.client.get(token))._meta['longhaul/progress']?.stage as string;
  const before = await stage();
  await eventually('its stage changes', async () => (await stage()) !== before);
  const list = async (filter: object) => {
    const { result } = await parts.client.call('operation_list', { limit: 100, ...filter });
    return result.structuredContent.operations.map((row: Row) => row.token) as string[];
  };
  const temporal = await parts.temporal(namespace);
  const query = `WorkflowId = '${token}' AND StartTime > '${since}' AND ExecutionStatus = 'Running'`;
  await eventually(
    'Temporal lists a later run',
    async () => (await temporal.workflow.count(query)).count > 0,
  );
  expect(await list({})).toContain(token);
  expect(await list({ since })).not.toContain(token);
  await parts.client.request('tasks/cancel', { taskId: token });
  await parts.client.until(token, 'cancelled');
});

test.each(['completed', 'running'])(
  'a reset of a %s operation leaves one row: the current run',
  async (when) => {
    const temporal = await parts.temporal(namespace);
    const token = await start(1, when === 'completed' ? 3_000 : 8_000);
    const { createdAt } = await parts.client.get(token);
    if (when === 'completed') await parts.client.until(token, 'completed');
    const handle = temporal.workflow.getHandle(token);
    const history = await eventually('its first task is done', async () => {
      const { events } = await handle.fetchHistory();
      return events!.find((event) => event.workflowTaskCompletedEventAttributes);
    });
    await temporal.workflowService.resetWorkflowExecution({
      namespace,
      workflowExecution: { workflowId: token },
      reason: 'once more',
      workflowTaskFinishEventId: history.eventId!,
      requestId: randomUUID(),
    });
    await eventually('the old run is listed as closed', async () => {
      const statuses: string[] = [];
      for await (const info of temporal.workflow.list({ query: `WorkflowId = '${token}'` }))
        statuses.push(info.status.name);
      return (
        statuses.length === 2 &&
        statuses.includes('RUNNING') &&
        statuses.some((status) => status !== 'RUNNING')
      );
    });
    expect(await statusIn(operationList, token)).toEqual(['running']);
    for (const status of ['completed', 'failed'])
      expect(await statusIn(operationList, token, { status })).toEqual([]);
    expect(await statusIn(operationList, token, { status: 'running' })).toEqual(['running']);
    await parts.client.until(token, 'completed');
    await eventually(
      'the new run is listed as closed',
      async () => (await statusIn(operationList, token))[0] === 'completed',
    );
    expect(await statusIn(operationList, token)).toEqual(['completed']);
    const [row] = (await operationList()).rows.filter((one) => one.token === token);
    expect(row!.createdAt).toBe(createdAt);
  },
);
