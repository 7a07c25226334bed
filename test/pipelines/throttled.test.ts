/** A pipeline of 60 steps in the middle of which Temporal refuses nearly all calls. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { OUTAGE_MS, PROCESSES_MS } from '../support/limits.js';
import { TemporalProxy } from '../support/temporal-proxy.js';
import { LEDGER, PipelineProject } from './support.js';

/** How long calls are refused. Longer by hand: `LONGHAUL_TEST_THROTTLED_SECONDS=600`. */
const THROTTLED_MS = Number(process.env['LONGHAUL_TEST_THROTTLED_SECONDS'] ?? 20) * 1_000;
/** One call of this many is passed on meanwhile. */
const PASSED_ON = 20;
const [JOBS, STEPS] = [4, 15];

jest.setTimeout(PROCESSES_MS * 2 + OUTAGE_MS + 4 * THROTTLED_MS);

const ids = Array.from({ length: JOBS }, (_, job) =>
  Array.from({ length: STEPS }, (_, step) => `job-${job} step-${step}`),
);
const PIPELINE = `
${LEDGER}
jobs:
${ids.map((steps, job) => `  job-${job}:\n    steps:\n${steps.map((id) => `      - run: 'echo "${id}" >> "$INPUT_LEDGER"'`).join('\n')}`).join('\n')}
`;

let proxy: TemporalProxy;
let project: PipelineProject;
beforeAll(async () => {
  proxy = await TemporalProxy.start(() => undefined);
  // Its own stack, whose calls to Temporal go through the proxy.
  project = await PipelineProject.start({ long: PIPELINE }, { TEMPORAL_ADDRESS: proxy.address });
}, PROCESSES_MS);
afterAll(async () => {
  await project?.stop();
  await proxy?.close();
});

test('each step runs once and the pipeline completes; reads answer, or say that they may be repeated', async () => {
  const token = await project.startOn('long', 'ledger');
  await eventually('it is under way', () => project.lines('ledger').length > 8, OUTAGE_MS);
  let calls = 0;
  proxy.decide = () =>
    (calls += 1) % PASSED_ON === 0 ? undefined : { code: 8, message: 'namespace rate limit exceeded' };
  const until = performance.now() + THROTTLED_MS;
  while (performance.now() < until) {
    const { result, error } = await project.client.request('tasks/get', { taskId: token });
    if (error) expect(error.data).toMatchObject({ kind: 'unavailable', retryable: true });
    else expect(['working', 'completed']).toContain(result.status);
    await sleep(1_000);
  }
  expect(proxy.refusedCalls).toBeGreaterThan(0);
  proxy.decide = () => undefined;
  const result = await project.finish(token, OUTAGE_MS);
  expect({ isError: result.isError ?? false, content: result.content }).toMatchObject({ isError: false });
  for (const [job, steps] of ids.entries())
    expect(project.lines('ledger').filter((line) => line.startsWith(`job-${job} `))).toEqual(steps);
  expect(project.lines('ledger')).toHaveLength(JOBS * STEPS);
});
