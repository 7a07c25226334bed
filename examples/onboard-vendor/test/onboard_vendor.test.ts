import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestToolEnvironment, type OperationHandle } from 'longhaul/testing';
import followCheck from '../tools/follow_check.js';
import tool from '../tools/onboard_vendor.js';
import type { StepRecord } from '../lib/saga.js';
import { Service } from './service.js';

const VENDOR = {
  name: 'Brightwater Analytics GmbH',
  country: 'DE',
  iban: 'DE89 3704 0044 0532 0130 00',
  yearlySpend: 48_000,
  contacts: [
    { name: 'Mira Vogt', email: 'mira.vogt@brightwater.example' },
    { name: 'Jonas Pohl', email: 'jonas.pohl@brightwater.example' },
  ],
};
const YES = { action: 'accept', content: { approve: true, comment: 'fine' } } as const;
const SECOND = 1 / 3600;
const CHECK_MS = 1_000;
/** A check that is still running whenever a test looks at it. */
const LONG_CHECK_MS = 3_600_000;
const STEPS = ['supplier', 'check', 'contract', 'person-1', 'person-2', 'account'];

let service: Service;
let environment: TestToolEnvironment;
before(async () => {
  service = await Service.start();
  environment = await TestToolEnvironment.create({ environment: { VENDOR_SYSTEMS: service.systems } });
});
after(async () => {
  await environment?.close();
  await service?.stop();
});
beforeEach(async () => {
  await service.clear();
  await service.checksTake(CHECK_MS);
});

const start = (more: Partial<typeof VENDOR & { answerHours: number }> = {}) =>
  environment.start(tool, { ...VENDOR, ...more });

/** Approves for legal, then for finance. */
async function approveBoth(operation: OperationHandle<unknown>): Promise<void> {
  for (const key of ['input-1', 'input-2']) {
    await operation.question({ key });
    await operation.answer(YES, key);
  }
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await holds())) {
    assert.ok(Date.now() < end, `${what}: not within 60 s`);
    await sleep(50);
  }
}

const recordsOf = async (operation: OperationHandle<unknown>) =>
  ((await operation.partial()) as { records: StepRecord[] } | undefined)?.records ?? [];
/** Idempotency key of a step's request. */
const keyOf = ({ token }: OperationHandle<unknown>, step: string) =>
  createHash('sha256').update(`${token}/${step}`).digest('hex').slice(0, 32);
const jobOf = (operation: OperationHandle<unknown>) => `arn:checks:vendor/${keyOf(operation, 'check')}`;
/** How often the systems have got a step's request. */
const timesOf = async (operation: OperationHandle<unknown>, step: string) =>
  Number((await service.tables()).requests.find(({ key }) => key === keyOf(operation, step))?.times ?? 0);
/** Records without the numbers in their IDs, and the check without its ARN. */
const shapeOf = (records: StepRecord[]) =>
  records.map(({ step, state, id }) => `${step} ${state} ${id?.replace(/(-|\/)\w+$/, '')}`);
const save = async (operation: OperationHandle<unknown>, name: string) => {
  if (process.env['RECORD']) await operation.saveHistory(`histories/${name}.json`);
};

let calm: string[];

test('onboards a vendor; the records so far can be read at any time', async () => {
  const operation = await start();
  await operation.question({ key: 'input-1' });
  assert.deepEqual(shapeOf(await recordsOf(operation)), [
    'supplier done SUP',
    'check done arn:checks:vendor',
  ]);
  await approveBoth(operation);
  const { outcome, reason, records } = await operation.result();
  assert.deepEqual([outcome, reason], ['onboarded', 'approved by legal and finance']);
  assert.deepEqual(
    records.map(({ step }) => step),
    STEPS,
  );
  assert.equal(records[1]!.id, jobOf(operation));
  calm = shapeOf(records);
  const { suppliers, contracts, people, accounts, jobs } = await service.tables();
  assert.deepEqual(
    [suppliers, contracts, people, accounts, jobs].map((rows) => rows.length),
    [1, 1, 2, 1, 1],
  );
  assert.deepEqual((await operation.describe()).progress, { progress: 10, total: 10 });
  await save(operation, 'onboarded');
});

test('a worker that is killed during the check attaches to the same job', async () => {
  await service.checksTake(LONG_CHECK_MS);
  const operation = await start();
  await until('the job runs', async () => (await service.tables()).jobs.length === 1);
  await environment.killWorker();
  await environment.startWorker();
  await service.checksTake(CHECK_MS);
  await approveBoth(operation);
  const { records } = await operation.result();
  assert.deepEqual(shapeOf(records), calm);
  assert.deepEqual(
    (await service.tables()).jobs.map(({ id }) => id),
    [jobOf(operation)],
  );
});

test('systems that are down are waited for; a request whose answer was lost creates one record', async () => {
  await service.fault('crm', { down: 3 });
  await service.fault('checks', { lose: 1 });
  await service.fault('hr', { lose: 2 });
  const operation = await start();
  await operation.until(({ statusMessage }) => /retried.*crm answered 503/.test(statusMessage ?? ''));
  await approveBoth(operation);
  assert.deepEqual(shapeOf((await operation.result()).records), calm);
  for (const step of ['check', 'person-1', 'person-2'])
    assert.ok((await timesOf(operation, step)) >= 2, step);
  const { people, jobs } = await service.tables();
  assert.deepEqual([people.length, jobs.length], [2, 1]);
});

test('when the last system refuses, all others are cleared, the last one first', async () => {
  const operation = await start({ iban: 'DE89 3704 0044 0532 0130 01' });
  await approveBoth(operation);
  await assert.rejects(operation.result(), {
    kind: 'failed',
    type: 'Refused',
    message: /wrong check digits/,
  });
  assert.deepEqual(await service.leftOver(), []);
  const undone = (await operation.logs()).flatMap((line) => /undone .*"path":"(.*?)"/.exec(line)?.[1] ?? []);
  assert.deepEqual(undone, ['hr/people', 'hr/people', 'legal/contracts', 'checks/jobs', 'crm/suppliers']);
  assert.ok((await recordsOf(operation)).every(({ state }) => state === 'undone'));
  await save(operation, 'failed');
});

test('a vendor on a sanctions list is refused', async () => {
  const { outcome, reason } = await environment.call(tool, { ...VENDOR, name: 'Sable Harbour Trading' });
  assert.deepEqual([outcome, reason], ['refused', 'Sable Harbour Trading is on a sanctions list']);
  assert.deepEqual(await service.leftOver(), []);
});

test('an approval that is not given in time is passed on, and in the end refused', async () => {
  const [answered, unanswered] = [
    await start({ answerHours: 8 * SECOND }),
    await start({ answerHours: SECOND }),
  ];
  const escalated = await answered.question({ key: 'input-2' });
  assert.match(escalated.message, /^For head-of-legal, since legal did not answer/);
  await answered.answer(YES, 'input-2');
  await answered.question({ key: 'input-3' });
  await answered.answer(YES, 'input-3');
  assert.equal((await answered.result()).reason, 'approved by head-of-legal and finance');

  const { outcome, reason, records } = await unanswered.result();
  assert.deepEqual([outcome, reason], ['refused', 'refused by head-of-legal: nobody answered in time']);
  assert.deepEqual(shapeOf(records), ['supplier undone SUP', 'check undone arn:checks:vendor']);
  assert.equal((await service.tables()).suppliers.length, 1);
  await save(unanswered, 'refused');
});

test('a cancel during the check cancels the job', async () => {
  await service.checksTake(LONG_CHECK_MS);
  const operation = await start();
  await until('the job runs', async () => (await service.tables()).jobs.length === 1);
  await operation.cancel();
  assert.equal((await operation.closed()).status, 'canceled');
  assert.deepEqual(
    (await service.tables()).jobs.map(({ state }) => state),
    ['cancelled'],
  );
  assert.deepEqual(await service.leftOver(), []);
});

test('follows a check of somebody else through a kill of the worker; a cancel leaves it running', async () => {
  await service.checksTake(LONG_CHECK_MS);
  const arn = await service.startCheck('Sable Harbour Trading');
  const [followed, given] = [
    await environment.start(followCheck, { arn }),
    await environment.start(followCheck, { arn }),
  ];
  await given.until(({ statusMessage }) => /company register/.test(statusMessage ?? ''));
  await given.cancel();
  assert.equal((await given.closed()).status, 'canceled');
  await environment.killWorker();
  await environment.startWorker();
  assert.deepEqual(
    (await service.tables()).jobs.map(({ id, state }) => [id, state]),
    [[arn, 'running']],
  );
  await service.checksTake(CHECK_MS);
  assert.deepEqual(await followed.result(), {
    clear: false,
    finding: 'Sable Harbour Trading is on a sanctions list',
  });
  await save(followed, 'followed');
  await assert.rejects(environment.call(followCheck, { arn: 'arn:checks:vendor/none' }), {
    kind: 'failed',
    message: /there is no such record/,
  });
});

for (const [when, fault] of [
  ['once the way back has begun', { holdBefore: 2 }],
  ['after the operation has ended', { holdBefore: 1 }],
  ['at once, with an answer that comes too late', { holdAfter: 1 }],
] as const)
  test(`a system that creates its record ${when} leaves nothing`, async () => {
    await service.fault('erp', fault);
    const operation = await start();
    await approveBoth(operation);
    await until('the account is asked for', async () => (await service.held('erp')) === 1);
    assert.equal((await service.tables()).accounts.length, 'holdAfter' in fault ? 1 : 0);
    await operation.cancel();
    if ('holdBefore' in fault && fault.holdBefore === 2) {
      // The operation asks for the record's ID, to remove it: both requests now continue, the late one first.
      await until('the record is asked for again', async () => (await service.held('erp')) === 2);
      await service.repair('erp');
    }
    assert.equal((await operation.closed()).status, 'canceled');
    await service.repair('erp');
    await until('the late request is over', async () => (await timesOf(operation, 'account')) >= 2);
    assert.deepEqual(await service.leftOver(), []);
    assert.ok((await recordsOf(operation)).every(({ state }) => state === 'undone'));
  });

for (const end of ['onboarded', 'failed', 'refused', 'followed'])
  test(`replays the history of an operation that ended ${end}`, () =>
    environment.replay(`histories/${end}.json`));
