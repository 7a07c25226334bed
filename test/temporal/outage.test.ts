import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { eventually, readText, TestHome, type CommandRun } from '../stack/cli-process.js';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { PROCESSES_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';
import { protocolClients } from '../support/protocols/index.js';
import { FIXTURES } from '../support/test-stack.js';

// Own stack: the test stops Temporal.
/** Folder of the ledgers that steps write. */
const folder = temporaryFolder('outage');
const home = await forAllTests(TestHome.create());
const client = new WireClient(`${home.url}/mcp`);

const startTemporal = async (): Promise<CommandRun> => {
  const run = home.run(['temporal']);
  await eventually('Temporal has left its address', () => home.state().temporalAddress);
  return run;
};

/** Error of a Temporal that is away. */
const AWAY = { code: -32603, data: { kind: 'unavailable', retryable: true } };

/** No protocol reports an operation as lost or failed while Temporal is away. */
async function expectUnavailableOnEveryProtocol(token: string): Promise<void> {
  // A session of an older revision has to be opened first.
  for (const protocol of protocolClients(home.url).filter(({ name }) => !name.startsWith('2025')))
    await expect(protocol.read(token)).rejects.toMatchObject({ kind: 'unavailable', isRetryable: true });
  const uri = `longhaul://operations/${token}/result`;
  expect((await client.request('resources/read', { uri })).error).toMatchObject(AWAY);
  const job = await fetch(`${home.url}/v1/jobs/${token}`);
  expect(Number(job.headers.get('retry-after'))).toBeGreaterThan(0);
}

test('a server and a worker start before Temporal, say so, and recover by themselves; an outage harms no work', async () => {
  const environment = { LONGHAUL_PROJECT: FIXTURES };
  home.run(['server'], environment);
  home.run(['worker'], environment);
  const readiness = () =>
    fetch(`${home.url}/readyz`).then(
      async (r) => ({ status: r.status, body: (await r.json()) as any }),
      () => undefined,
    );
  const early = await eventually('the server listens', readiness);
  expect(early).toMatchObject({
    status: 503,
    body: { status: 'unavailable', missing: [expect.stringMatching(/Temporal/)] },
  });
  expect((await fetch(`${home.url}/healthz`)).status).toBe(200);
  const call = await client.call('slow_compute', { seconds: 1 });
  expect(call.result).toMatchObject({
    isError: true,
    _meta: { 'longhaul/error': { kind: 'unavailable', retryable: true } },
  });

  const first = await startTemporal();
  await eventually('a call would work', async () => (await readiness())?.status === 200);
  const asking = { ledger: join(folder, 'asking'), steps: 2, secondsPerStep: 0, ask: true };
  const patient = await client.start('step_ledger', asking);
  await client.until(patient, 'input_required');
  const ledger = join(folder, 'busy');
  const busy = await client.start('step_ledger', { ledger, steps: 2, secondsPerStep: 8 });
  await eventually('the first step has begun', () => readText(ledger).includes('start 1'));

  first.process.kill('SIGTERM');
  await first.ended;
  expect((await readiness())?.status).toBe(503);
  await expectUnavailableOnEveryProtocol(busy);
  await eventually('the first step ends without Temporal', () => readText(ledger).includes('done 1'));

  await startTemporal();
  await client.accept(patient, { go: true });
  expect((await client.until(patient, 'completed')).result.structuredContent).toEqual({ steps: [1, 2] });
  const done = await client.until(busy, 'completed', PROCESSES_MS);
  expect(done.result.structuredContent).toEqual({ steps: [1, 2] });
});
