/** The workflows that `longhaul conformance` checks, with Longhaul's own runtime. */
import {
  ActivityCancellationType,
  ApplicationFailure,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';
import { partial, progress, requestInput, stage } from 'longhaul/workflow';
import type * as activities from '../activities/contract.js';

const { contract_report, contract_wait } = proxyActivities<typeof activities>({
  startToCloseTimeout: '5m',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

const confirm = { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] };
const count = {
  type: 'object',
  properties: { count: { type: 'integer', minimum: 1, maximum: 5 } },
  required: ['count'],
};

/** Waits for the signal `next` once more at each call. */
function steps(): () => Promise<void> {
  let come = 0;
  setHandler(defineSignal('next'), () => void (come += 1));
  return async () => {
    await condition(() => come > 0);
    come -= 1;
  };
}

export async function ContractHeartbeat() {
  await contract_wait();
}

export async function ContractProgress() {
  const step = steps();
  stage('first');
  progress({ progress: 1, total: 3, message: 'one' });
  await step();
  stage('second');
  const result = await contract_report();
  await step();
  progress({ progress: 0 });
  stage('x'.repeat(3_000));
  return result;
}

export async function ContractQuestion() {
  const content = async (schema: typeof confirm | typeof count, message: string) => {
    const answer = await requestInput(schema, message);
    return answer.action === 'accept' ? answer.content : undefined;
  };
  return {
    confirm: await content(confirm, 'Delete?'),
    count: await content(count, 'How many?'),
    last: (await requestInput(confirm, 'Sure?')).action,
  };
}

export async function ContractPartial() {
  const step = steps();
  partial({ rows: 1, text: 'x'.repeat(8_000) });
  await step();
  await contract_report();
  await step();
  partial({ rows: 2, text: 'x'.repeat(80_000) });
  await step();
  throw ApplicationFailure.create({ message: 'nothing left', type: 'Broken' });
}

export async function ContractCancel() {
  stage('waiting');
  partial({ rows: 1 });
  await contract_wait().catch((error: unknown) => {
    if (!isCancellation(error)) throw error;
  });
  return { stopped: true };
}

export async function ContractContinue(run: number): Promise<string> {
  const step = steps();
  if (run === 1) {
    stage('first run');
    progress({ progress: 1, total: 2 });
    partial({ rows: 1 });
    await requestInput(confirm, 'Continue?');
    await continueAsNew<typeof ContractContinue>(2);
  }
  await requestInput(confirm, 'Finish?');
  progress({ progress: 2 });
  await step();
  return 'finished';
}
