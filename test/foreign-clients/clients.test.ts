/** Foreign clients drive a long tool with a question to its end, on a real server, worker and Temporal. */
import { resolve } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { QUEUE_WORKFLOW } from '../../operations/wire/queue-wire.js';
import { eventually, TestHome } from '../stack/cli-process.js';
import { forAllTests, inSetUp } from '../support/for-all-tests.js';
import { INSTALL_MS } from '../support/limits.js';
import { FIXTURES, TestStack } from '../support/test-stack.js';
import { CLIENTS, type ForeignClient, type Way } from './clients.js';
import { install, pinnedVersion } from './environments.js';
import { selectClients } from './passed.js';

jest.setTimeout(INSTALL_MS);

/** Groups airports by state, and asks before it writes the result to a file. */
const JOB = {
  tool: 'analyze_dataset',
  arguments: {
    path: 'airports.csv',
    group_by: ['state'],
    aggregates: [{ fn: 'count', as: 'airports' }],
    limit: 3,
    ask_over_mb: 0,
  },
  answer: { write: true },
  endless: { tool: 'confirm_delete', arguments: { filename: 'notes.txt' } },
};
/** Only for clients with tasks; others of 2026-07-28 and of the oldest revisions are not shown them. */
const NEEDS_TASKS = ['failing_job', 'never_ends'];
/** Only for clients that opt in to operation tokens. */
const HIDDEN = 'deep_analysis';

interface Report {
  versions: Record<string, string>;
  protocol: string;
  tools: string[];
  /** Questions that the callback was asked. */
  questions?: string[];
  /** `id`: the task's; `calls`: the tools that were called; `result`: what the client made of the result. */
  runs: { way: Way; id?: string; calls?: string[]; result: unknown }[];
  cancelled?: { id: string; status: string; error: string };
  /** Types of the content blocks that the framework would hand to a model. */
  blocks?: string[];
}

const { isWhole, recordPass } = selectClients();
const driven = CLIENTS.filter(({ isSmoke }) => isWhole || isSmoke);
const tested = new Set<string>();

await inSetUp(Promise.all(driven.map(({ environment }) => install(environment))));
// A stack of its own: its operations are counted.
const parts = await forAllTests(
  TestStack.start({ LONGHAUL_DATA_FOLDERS: resolve('node_modules/vega-datasets/data') }),
);

const reports = new Map<string, Promise<Report>>();

/** Runs a client's driver, once. The next client's runs beside it, since drivers mostly wait. */
function reportOf(client: ForeignClient): Promise<Report> {
  const at = driven.indexOf(client);
  for (const { name, packages, environment, driver } of driven.slice(at, at + 2)) {
    if (reports.has(name)) continue;
    const drive = async () => {
      const start = await install(environment);
      const printed = await start(driver, JSON.stringify({ url: parts.client.url, packages, ...JOB }));
      return JSON.parse(printed.trim().split('\n').at(-1)!) as Report;
    };
    const report = drive();
    // Its own tests report it.
    report.catch(() => undefined);
    reports.set(name, report);
  }
  return reports.get(client.name)!;
}

/** A test of one client: skipped, and counted as such, where only some clients are driven. */
function testOf(
  name: string,
  claim: string,
  check: (report: Report, client: ForeignClient) => Promise<void>,
) {
  const client = CLIENTS.find((one) => one.name === name)!;
  const title = `${name} ${claim}`;
  if (!driven.includes(client)) return test.skip(title, () => undefined);
  tested.add(title);
  return test(title, async () => {
    await check(await reportOf(client), client);
    tested.delete(title);
  });
}

describe.each(CLIENTS)('$name', ({ name }) => {
  testOf(name, 'lists every tool of the project, in the pinned version', async (report, client) => {
    const { packages, environment, protocol } = client;
    expect(report.versions).toEqual(
      Object.fromEntries(packages.map((one) => [one, pinnedVersion(environment, one)])),
    );
    expect(report.protocol).toBe(protocol);
    const ready = await fetch(`${parts.base}/readyz`);
    const { tools } = (await ready.json()) as { tools: string[] };
    expect(tools.length).toBeGreaterThan(20);
    const withTasks = client.ways.includes('tasks');
    const shown = tools.filter((one) => one !== HIDDEN && (withTasks || !NEEDS_TASKS.includes(one)));
    expect(report.tools).toEqual(expect.arrayContaining(shown));
  });

  testOf(
    name,
    'drives the job to its end, its question answered once',
    async ({ runs, questions }, client) => {
      expect(runs.map(({ way }) => way)).toEqual(client.ways);
      const asked = runs
        .filter(({ way }) => way !== 'polling')
        .map(() => expect.stringContaining('Write it?'));
      expect(questions ?? []).toEqual(asked);
      for (const { way, id, calls, result } of runs) {
        if (way === 'polling') expectToFollow(calls!);
        const text = JSON.stringify(result);
        expect(text).toMatch(/AK\W{1,20}263/);
        const [, token] = /longhaul:\/\/operations\/(\w+)\/artifacts\/result\.parquet/.exec(text) ?? [];
        if (id !== undefined) expect(token).toBe(id);
        expect(await inTemporal(token!)).toEqual({ status: 'COMPLETED', answers: 1 });
      }
    },
  );
});

function expectToFollow(calls: string[]): void {
  expect(calls[0]).toBe(JOB.tool);
  expect(calls.filter((tool) => tool === 'operation_answer')).toHaveLength(1);
  expect(new Set(calls.slice(1))).toEqual(new Set(['operation_get', 'operation_answer']));
}

/** A workflow as Temporal itself has it: its status, and how many answers it took. */
async function inTemporal(workflowId: string): Promise<{ status: string; answers: number }> {
  const handle = (await parts.temporal()).workflow.getHandle(workflowId);
  const { events } = await handle.fetchHistory();
  const isAnswer = (name: string | null | undefined) => name === 'provide_input';
  const answers = events!.filter(
    ({ workflowExecutionUpdateAcceptedEventAttributes: update, workflowExecutionSignaledEventAttributes }) =>
      isAnswer(update?.acceptedRequest?.input?.name) ||
      isAnswer(workflowExecutionSignaledEventAttributes?.signalName),
  );
  return { status: (await handle.describe()).status.name, answers: answers.length };
}

testOf('FastMCP with fastmcp-tasks', 'cancels a task', async ({ cancelled }) => {
  expect(cancelled).toMatchObject({ status: 'cancelled', error: expect.stringContaining('was cancelled') });
  expect(await inTemporal(cancelled!.id)).toEqual({ status: 'CANCELLED', answers: 0 });
});

// A resource_link becomes a file block, which the APIs of models refuse.
testOf('LangChain', 'gets nothing but text blocks from a tool that leaves a file', async ({ blocks }) => {
  expect(new Set(blocks)).toEqual(new Set(['text']));
});

const RESTART = 'Python SDK 1.x gets the result of a wait during which the supervised server was killed';
if (isWhole) tested.add(RESTART);
(isWhole ? test : test.skip)(RESTART, async () => {
  const home = await TestHome.create();
  try {
    await home.up({ LONGHAUL_PROJECT: FIXTURES });
    const serverPid = home.parts().server;
    const start = await install('mcp-1');
    const given = { url: `${home.url}/mcp`, serverPid, packages: ['mcp'], ...JOB };
    const printed = await start('python_sdk_1_restart.py', JSON.stringify(given));
    expect(JSON.parse(printed.trim().split('\n').at(-1)!)).toMatchObject({
      kills: [serverPid],
      result: { status: 'completed', result: { label: 'killed' } },
    });
    tested.delete(RESTART);
  } finally {
    await home.remove();
  }
});

test('no client has started a job twice', async () => {
  const all = await Promise.all([...reports.values()]);
  const expected = all.reduce((sum, { runs, cancelled }) => sum + runs.length + (cancelled ? 1 : 0), 0);
  expect(expected).toBeGreaterThan(0);
  const { workflow } = await parts.temporal();
  const query = `TaskQueue = "${parts.taskQueue}" AND WorkflowType != "${QUEUE_WORKFLOW}"`;
  await eventually('Temporal lists every job', async () => (await workflow.count(query)).count >= expected);
  expect((await workflow.count(query)).count).toBe(expected);
  if (isWhole && tested.size === 0) recordPass();
});
