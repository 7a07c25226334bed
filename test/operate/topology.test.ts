/**
 * Two servers behind nginx and two workers on PostgreSQL and S3 under load: each part is killed in turn, then a new version is
 * rolled out. No client sees more than an error that says that the call may be repeated.
 */
import { expect, jest, test } from '@jest/globals';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { Fleet } from '../chaos/fleet.js';
import { Ledger } from '../chaos/ledger.js';
import { killProcessesOf, leftProcesses } from '../chaos/leftovers.js';
import type { Context } from '../chaos/operations.js';
import { scheduleOf } from '../chaos/schedule.js';
import { Services } from '../chaos/services.js';
import { Violations } from '../chaos/violations.js';
import { afterAllTests, forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { INSTALL_MS } from '../support/limits.js';
import { type ProtocolClient, Refused, protocolClients } from '../support/protocols/index.js';
import { Cluster, PROJECT, cluster as target } from './cluster/index.js';
import { killPart, rollOut } from './faults.js';

jest.setTimeout(INSTALL_MS);

const OPERATIONS = 40;
/** Time for operations to end after the last kill, in milliseconds. */
const SETTLE_MS = 180_000;
/** Statuses of a proxy without a server. */
const PROXY_ERRORS = [502, 503, 504];
const VICTIMS = ['server-1', 'worker-1', 'proxy', 'postgresql', 'store', 'temporal'];

const root = realpathSync(temporaryFolder('topology'));
afterAllTests(() => killProcessesOf(root));
const cluster = await forAllTests(Cluster.start(root, PROJECT));

test('each part is killed, and a version is rolled out: nothing is lost or doubled, and errors may be repeated', async () => {
  const violations = new Violations(() => undefined);
  const refusals: string[] = [];
  const protocols = protocolClients(cluster.base).map((client) => watched(client, refusals));
  const { signal } = new AbortController();
  const ledger = join(root, 'ledger');
  let deadline = performance.now() + SETTLE_MS;
  const context: Context = { target, violations, signal, protocols, ledger, deadline: () => deadline };
  const { operations: plans } = scheduleOf(target, { operations: OPERATIONS, kills: 1, seed: 5, faults: [] });
  const calm = Fleet.calm(
    context,
    plans.map(({ kind }) => kind),
  );
  calm.startUpTo(1);
  await calm.end();
  expect(violations.all).toEqual([]);
  expect(refusals).toEqual([]);

  deadline = Infinity;
  const fleet = new Fleet(context, plans);
  const { handle } = calm.operations[0]!;
  const services = new Services(protocols[0]!, target.tools.probe!, ledger, handle!, signal);
  for (const [index, victim] of VICTIMS.entries()) {
    fleet.startUpTo((index + 1) / (VICTIMS.length + 2));
    await killPart(cluster, victim);
    const { service } = target.processes[victim]!;
    expect([victim, await services.untilBack(service)]).toEqual([victim, expect.any(Number)]);
  }

  const steps = VICTIMS.length + 2;
  await rollOut(cluster, join(root, 'project-2'), () => fleet.startUpTo((VICTIMS.length + 1) / steps));
  fleet.startUpTo(1);
  // Those that wait for a person are on the build of the first release.
  expect(cluster.builds()).toEqual([
    { isCurrent: false, open: expect.any(Number) },
    { isCurrent: true, open: expect.any(Number) },
  ]);
  expect(cluster.builds()[0]!.open).toBeGreaterThan(0);
  deadline = performance.now() + SETTLE_MS;
  await fleet.settle();
  deadline = performance.now() + SETTLE_MS;
  await fleet.end();
  await fleet.readAll();
  fleet.compareWith(calm);
  expect(cluster.builds().map(({ open }) => open)).toEqual([0, 0]);
  for (const operation of fleet.operations) new Ledger(ledger).check(operation, violations);
  expect(violations.all).toEqual([]);
  expect(refusals).toEqual([]);
  expect(fleet.operations.length).toBe(OPERATIONS);

  await cluster.stop();
  expect(await leftProcesses(root)).toEqual([]);
});

/** Refusal of one of the two answers that each question gets. */
const ANSWERED = /was already answered/;

/** Records errors of calls that a client can't repeat. Calls that no answer came to, and those that the proxy refused, it can. */
function watched(client: ProtocolClient, refusals: string[]): ProtocolClient {
  const call = async <T>(method: string, result: Promise<T>): Promise<T> => {
    try {
      return await result;
    } catch (error) {
      const isOther = method === 'answer' && ANSWERED.test((error as Error).message);
      if (
        error instanceof Refused &&
        !error.isRetryable &&
        !isOther &&
        !PROXY_ERRORS.includes(error.code ?? 0)
      )
        refusals.push(`${client.name} ${method}: ${error.kind} ${error.code} ${error.message}`);
      throw error;
    }
  };
  return {
    ...client,
    start: (...args) => call('start', client.start(...args)),
    read: (...args) => call('read', client.read(...args)),
    answer: (...args) => call('answer', client.answer(...args)),
    cancel: (...args) => call('cancel', client.cancel(...args)),
  };
}
