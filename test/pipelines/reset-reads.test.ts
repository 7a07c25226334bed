/** Reads on every protocol of an operation that an operator has reset, during and after its new run. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { call } from '../plain/support.js';
import { LegacyClient } from '../revision-2025-11-25/wire.js';
import { AsyncClient, connectSession } from '../sep-1391/client.js';
import { eventually } from '../stack/cli-process.js';
import { JobsClient } from '../support/jobs.js';
import { PROCESSES_MS } from '../support/limits.js';
import { resetBefore, schedules } from '../support/reset-workflow.js';
import { HttpClient } from '../two-stage/client.js';
import { LEDGER, PipelineProject } from './support.js';

jest.setTimeout(PROCESSES_MS);

const COUNTING = `
${LEDGER}
outputs: { runs: { value: work.runs, type: integer } }
jobs:
  work:
    outputs: [runs]
    steps:
      - name: count
        run: |
          echo run >> "$INPUT_LEDGER"
          until [ -e "$INPUT_LEDGER.go" ]; do sleep 0.1; done
          echo "runs=$(wc -l < "$INPUT_LEDGER")" >> "$LONGHAUL_OUTPUT"
`;

let project: PipelineProject;
beforeAll(async () => {
  project = await PipelineProject.shared({ counting: COUNTING });
}, PROCESSES_MS);
afterAll(() => project?.stop());

const go = (ledger: string) => join(project.ledgers, `${ledger}.go`);
const reset = async (token: string) =>
  resetBefore(await project.parts.temporal(), token, schedules('work / count'));

/** Reads an operation on each protocol: whether it is open, and its result. */
async function readers(
  token: string,
): Promise<Record<string, () => Promise<[isOpen: boolean, result?: any]>>> {
  const { client, parts } = project;
  const legacy = await LegacyClient.open(client.url);
  const tokens = new AsyncClient(await connectSession(client.url));
  const twoStage = await HttpClient.open(client.url);
  const jobs = new JobsClient(parts.base);
  return {
    'tasks of 2026-07-28': async () => {
      const { status, result } = await client.get(token);
      return [status === 'working', result?.structuredContent];
    },
    'tasks of 2025-11-25': async () => {
      const { result } = await legacy.request('tasks/get', { taskId: token });
      if (result.status === 'working') return [true];
      const answer = await legacy.request('tasks/result', { taskId: token });
      return [false, answer.result.structuredContent.result];
    },
    'the plain contract': async () => {
      const { structuredContent } = await call(client.with({}), 'operation_get', { token, view: 'full' });
      return [structuredContent.status === 'running', structuredContent.result];
    },
    'operation tokens': async () => {
      const { result } = await tokens.status(token);
      if (result.status !== 'completed') return [true];
      return [false, (await tokens.result(token)).result.result.structuredContent];
    },
    'two-stage returns': async () => {
      const { result } = await twoStage.request('tools/poll_result', { job_id: token });
      return [result.data.status === 'running', result.data.result?.data];
    },
    'jobs over HTTP': async () => {
      const { status } = await jobs.job(token);
      if (status === 'running') return [true];
      return [false, (await jobs.get(`/v1/jobs/${token}/result`)).body];
    },
  };
}

test('a closed operation that is reset is open again, on every protocol, and ends with the new result', async () => {
  const token = await project.startOn('counting', 'closed');
  const read = await readers(token);
  writeFileSync(go('closed'), '');
  await project.client.until(token, 'completed');
  const readAll = async () =>
    Object.fromEntries(
      await Promise.all(Object.entries(read).map(async ([name, one]) => [name, await one()])),
    );
  const all = (expected: unknown) => Object.fromEntries(Object.keys(read).map((name) => [name, expected]));
  expect(await readAll()).toEqual(all([false, { runs: 1 }]));

  rmSync(go('closed'));
  await reset(token);
  await eventually('the step runs again', () => project.lines('closed').length === 2);
  expect(await readAll()).toEqual(all([true]));

  writeFileSync(go('closed'), '');
  await project.client.until(token, 'completed');
  expect(await readAll()).toEqual(all([false, { runs: 2 }]));
});

test('a subscription to a task lasts through a reset, and has the end of the new run', async () => {
  const token = await project.startOn('counting', 'watched');
  await eventually('the step runs', () => project.lines('watched').length === 1);
  const subscription = await project.client.listen({ taskIds: [token] });
  await reset(token);
  await eventually('the step runs again', () => project.lines('watched').length === 2);
  writeFileSync(go('watched'), '');
  await eventually('its end is notified', () =>
    subscription.messages.some(({ params }) => params?.status === 'completed'),
  );
  subscription.close();
  const statuses = subscription.messages.flatMap(({ params }) => params?.status ?? []);
  expect(new Set(statuses)).toEqual(new Set(['working', 'completed']));
  expect((await project.client.get(token)).result.structuredContent).toEqual({ runs: 2 });
});
