import { proxyActivities } from '@temporalio/workflow';

interface Billing {
  refund(): Promise<string>;
}

export async function billed_elsewhere({ task_queue }: { task_queue: string }) {
  const billing = proxyActivities<Billing>({ taskQueue: task_queue, startToCloseTimeout: '1m' });
  return { refund: await billing.refund() };
}
