/** Watches of more workflows than the server may long-poll at a time. */
import { expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TemporalProxy } from '../support/temporal-proxy.js';
import { TestStack } from '../support/test-stack.js';

const POLLS = 2;
const OPERATIONS = 8;

/** The server's connection. */
const proxy = await forAllTests(TemporalProxy.start(() => undefined));
// Own server: few long polls, counted by a proxy.
const stack = await forAllTests(
  TestStack.serverOnSharedWorker({
    TEMPORAL_ADDRESS: proxy.address,
    LONGHAUL_MAX_HISTORY_POLLS: String(POLLS),
  }),
);

test('the server long-polls as many as the limit, and ends the waits for the others too', async () => {
  const { client } = stack;
  const tokens = await Promise.all(
    Array.from({ length: OPERATIONS }, () => client.start('confirm_delete', { filename: 'a.txt' })),
  );
  const questions = await Promise.all(
    tokens.map(async (token) => Object.keys((await client.until(token, 'input_required')).inputRequests)),
  );
  const of = (token: string, method: string) => proxy.recordedCalls(token)[method] ?? 0;
  const isPolled = (token: string) => of(token, 'GetWorkflowExecutionHistory') > 0;
  proxy.record();
  const end = new AbortController();
  /** Statuses in the events of each job. */
  const seen = tokens.map(() => '');
  const streams = tokens.map(async (token, index) => {
    const response = await fetch(`${stack.base}/v1/jobs/${token}/events`, { signal: end.signal });
    for await (const chunk of response.body!) seen[index] += Buffer.from(chunk as Uint8Array).toString();
  });
  await eventually('each is watched', () =>
    tokens.every((token) => isPolled(token) || of(token, 'DescribeWorkflowExecution') > 2),
  );
  expect(tokens.filter(isPolled)).toHaveLength(POLLS);
  await Promise.all(
    tokens.map((token, index) =>
      client.answer(token, questions[index]![0]!, { action: 'accept', content: { confirm: true } }),
    ),
  );
  await Promise.all(streams);
  end.abort();
  for (const events of seen) expect(events).toContain('"completed"');
});
