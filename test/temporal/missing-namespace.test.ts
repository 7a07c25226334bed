import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { eventually } from '../stack/cli-process.js';
import { forThisTest } from '../support/for-all-tests.js';
import { TestStack, type Part } from '../support/test-stack.js';
import { TemporalProxy } from '../support/temporal-proxy.js';

async function startParts(environment: Record<string, string>) {
  // Own stack: its namespace is missing, or hidden.
  const stack = await forThisTest(TestStack.serverAlone(environment));
  return { stack, worker: stack.worker() };
}

/** Waits for the worker's end. @returns its lines on standard error that aren't log entries */
async function lastWords(worker: Part): Promise<string[]> {
  await eventually('the worker has ended', () => worker.process.exitCode !== null);
  expect(worker.process.exitCode).toBe(1);
  return worker
    .output()
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('{'));
}

test('a namespace that does not exist is named with the remedy, by the server while it waits and by the worker as it ends', async () => {
  const namespace = `missing-${randomUUID()}`;
  const { stack, worker } = await startParts({ TEMPORAL_NAMESPACE: namespace });
  const problem =
    `Temporal has no namespace "${namespace}"; create it (temporal operator namespace create ` +
    `--namespace ${namespace} --retention 72h), or name one that exists: in TEMPORAL_NAMESPACE, or as \`workflow.namespace\` in a tool's file`;
  expect(await lastWords(worker)).toEqual([`longhaul: ${problem}`]);
  const missing = await eventually('the server reports it', async () => {
    const response = await fetch(`${stack.base}/readyz`).catch(() => undefined);
    const { missing } = ((await response?.json()) ?? {}) as { missing?: string[] };
    return missing?.some((line) => line.includes(namespace)) && missing;
  });
  expect(missing).toEqual([problem]);
});

test('credentials that may not describe the namespace end the worker with one line that names the call', async () => {
  const proxy = await forThisTest(
    TemporalProxy.start(({ method }) =>
      method === 'DescribeNamespace' ? { code: 7, message: 'Request unauthorized.' } : undefined,
    ),
  );
  const { worker } = await startParts({ TEMPORAL_ADDRESS: proxy.address });
  const lines = await lastWords(worker);
  expect(lines).toEqual([
    expect.stringMatching(/^longhaul: the credentials don't allow DescribeNamespace .* unauthorized\.$/),
  ]);
});
