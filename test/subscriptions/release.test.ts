import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { subscribe } from './support.js';

/** More than the server of this test holds open at once, so closed ones must have been released. */
const STREAMS = 400;
const MOST_OPEN = 100;
const AT_ONCE = 24;
const TASKS = 24;

// A stack of its own: the memory and CPU of its server are measured.
const parts = await forAllTests(TestStack.start({ LONGHAUL_MAX_OPEN_REQUESTS: String(MOST_OPEN) }));

/** CPU time used by a process, in seconds. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
}

test('a stream that its client closes is let go: slots, memory and watches', async () => {
  const { client } = parts;
  const pid = parts.parts[0]!.process.pid!;
  const taskIds = await Promise.all(
    Array.from({ length: TASKS }, (_, index) => client.start('confirm_delete', { filename: String(index) })),
  );
  await Promise.all(taskIds.map((taskId) => client.until(taskId, 'input_required')));

  let opened = 0;
  let early = 0;
  const openAndClose = async () => {
    while (opened < STREAMS) {
      opened += 1;
      if (opened === STREAMS / 2) early = residentMb(pid);
      const wanted = opened % 2 ? [taskIds[opened % TASKS]] : taskIds.slice(0, 5);
      const { messages, response, close } = await subscribe(client, { taskIds: wanted });
      expect(response.headers.get('content-type')).toContain('event-stream');
      // Some are closed before, some after the first notification.
      if (opened % 3 === 0) await eventually('a task', () => messages.length > 1);
      close();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, openAndClose));
  expect(residentMb(pid) - early).toBeLessThan(60);

  // Leaked watches would poll progress every few seconds.
  await sleep(2_000);
  const before = cpuSeconds(pid);
  await sleep(6_000);
  expect(cpuSeconds(pid) - before).toBeLessThan(0.6);

  expect(await client.get(taskIds[0]!)).toMatchObject({ status: 'input_required' });
  const { messages, close } = await subscribe(client, { taskIds: [taskIds[0]] });
  await eventually('the task', () => messages.length > 1);
  await client.answer(taskIds[0]!, 'input-1', { action: 'decline' });
  await eventually('its end', () => messages.some(({ params }) => params?.status === 'completed'));
  close();
});
