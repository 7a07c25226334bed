import { ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import { progress, requestInput, stage, workSize } from 'longhaul/workflow';
import type * as activities from '../activities/mistaken.js';

const { misreport, misname } = proxyActivities<typeof activities>({
  startToCloseTimeout: '1m',
  retry: { initialInterval: '100ms' },
});
const flat = { type: 'object', properties: { ok: { type: 'boolean' } } };
const nested = { type: 'object', properties: { order: { type: 'object', properties: {} } } };

/** Hides a mistake from TypeScript. */
const wrong = <T>(value: unknown) => value as T;

const MISTAKES: Record<string, () => Promise<unknown>> = {
  async reports() {
    progress({ progress: NaN, total: -3 });
    progress(wrong(50));
    progress({ progress: 1, message: wrong(7) });
    stage(wrong(3));
    workSize(NaN);
    await misreport();
    stage('s'.repeat(5_000));
    return null;
  },
  async beyond() {
    progress({ total: 6 });
    await misreport(9);
    return null;
  },
  'question without text': () => requestInput(flat, ' '),
  'nested question': () => requestInput(nested, 'Which order?'),
  'endless question': () => requestInput(flat, 'When?', { timeoutSeconds: Infinity }),
  'name of an artifact': () => misname('../../x.txt', 'text'),
  'absolute name': () => misname('/etc/x.txt', 'text'),
  'content of an artifact': () => misname('x.json', { a: 1 }),
  'details of a failure'() {
    throw ApplicationFailure.nonRetryable('the pump is broken', 'Pump', { n: 10n });
  },
};

export async function mistaken({ mistake }: { mistake: string }): Promise<unknown> {
  return MISTAKES[mistake]!();
}
