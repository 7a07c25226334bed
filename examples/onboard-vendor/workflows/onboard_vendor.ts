import { proxyActivities } from '@temporalio/workflow';
import { cleanup, progress, stage } from 'longhaul/workflow';
import type { ToolInput, ToolOutput } from 'longhaul';
import type * as activities from '../activities/onboard_vendor.js';
import { approve } from '../lib/approval.js';
import { awaitCheck } from '../lib/await-check.js';
import { Saga } from '../lib/saga.js';
import type tool from '../tools/onboard_vendor.js';

const LEGAL = ['legal', 'head-of-legal'];
const FINANCE = ['finance', 'cfo'];
/** Phases that a background check reports. */
const CHECK_PHASES = 4;

const { approvalsByRole } = proxyActivities<typeof activities>({ startToCloseTimeout: '10s' });

type Result = ToolOutput<typeof tool>;

export async function onboard_vendor(vendor: ToolInput<typeof tool>): Promise<Result> {
  const { name, country, iban, yearlySpend, contacts, answerHours: hours } = vendor;
  const saga = new Saga();
  cleanup(() => saga.undo());
  // The records of supplier, check, contract, people and account, and the check's own phases.
  progress({ total: 4 + contacts.length + CHECK_PHASES });
  const isByRole = await approvalsByRole();

  stage('create the supplier');
  const supplier = await saga.create('supplier', 'crm/suppliers', { name, country });

  stage('background check');
  const arn = await saga.create('check', 'checks/jobs', { vendor: name });
  const { finding } = await awaitCheck(arn);
  if (finding) return refuse(saga, finding);

  stage('approval by legal');
  const question = `${name} (${country}), background check clear. Sign the contract over ${yearlySpend} EUR a year?`;
  const legal = await approve(question, { roles: LEGAL, hours, isByRole });
  if (!legal.approved) return refuse(saga, `refused by ${legal.role}: ${legal.comment}`);

  stage('file the contract');
  await saga.create('contract', 'legal/contracts', { supplier, yearlySpend, approvedBy: legal.role });

  stage('give access');
  await all(
    contacts.map((person, index) => saga.create(`person-${index + 1}`, 'hr/people', { supplier, ...person })),
  );

  stage('approval by finance');
  const finance = await approve(`Pay ${name}, up to ${yearlySpend} EUR a year, to ${iban}?`, {
    roles: FINANCE,
    hours,
    isByRole,
  });
  if (!finance.approved) return refuse(saga, `refused by ${finance.role}: ${finance.comment}`);

  stage('open the account');
  await saga.create('account', 'erp/accounts', { supplier, iban, approvedBy: finance.role });
  return {
    outcome: 'onboarded',
    reason: `approved by ${legal.role} and ${finance.role}`,
    records: saga.records,
  };
}

/** A no is a result, not a failure: the records are removed here, not by the cleanup. */
async function refuse(saga: Saga, reason: string): Promise<Result> {
  await saga.undo();
  return { outcome: 'refused', reason, records: saga.records };
}

/** Waits for the end of each, also when one fails: a request that is under way can't be undone. */
async function all(work: Promise<unknown>[]): Promise<void> {
  const ends = await Promise.allSettled(work);
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}
