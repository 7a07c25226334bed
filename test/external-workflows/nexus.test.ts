/** Tools over Nexus operations, through every protocol. */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, jest, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { connectAsOperator } from '../support/run-temporal.js';
import { OddStack } from './support.js';

jest.setTimeout(PROCESSES_MS);

const QUEUE = `nexus-${randomUUID()}`;
const ENDPOINT = `desk-${randomUUID()}`;
const nexus = (operation: string, endpoint = ENDPOINT) =>
  `nexus: { endpoint: ${endpoint}, service: desk, operation: ${operation} }`;
const NAMES = 'input: { properties: { names: { type: array, items: { type: string } } }, required: [names] }';
const TOOLS = {
  'greet.yaml': `${nexus('greet')}\ninput: { properties: { who: { type: string } } }\nargs: { name: who }\n`,
  'refuse.yaml': `${nexus('refuse')}\ninput: { properties: { why: { type: string } } }\n`,
  'review.yaml': `${nexus('review')}\n${NAMES}\n`,
  'short.yaml': `${nexus('review')}\n${NAMES}\ntimeout-minutes: 0.05\n`,
  'unknown.yaml': nexus('unknown'),
  'nowhere.yaml': nexus('greet', 'nowhere'),
  'service.yaml': `nexus: { endpoint: ${ENDPOINT}, service: desk }\ntimeout-minutes: 10\n`,
  'lost.yaml': 'nexus: { endpoint: nowhere, service: lost }',
};

beforeAll(async () => {
  const connection = await connectAsOperator();
  await connection.operatorService.createNexusEndpoint({
    spec: { name: ENDPOINT, target: { worker: { namespace: 'default', taskQueue: QUEUE } } },
  });
  await connection.close();
}, PROCESSES_MS);
// The server looks for it as it starts.
const stack = OddStack.ofFile(QUEUE, TOOLS);
const { ended, until, begin: start } = stack;
/** Answers the review of a name, if its workflow runs. */
const replied = async (name: string) => {
  const handle = (await stack.parts.temporal()).workflow.getHandle(`review-${name}`);
  return handle.signal('reply', { id: name, verdict: 'good' }).then(
    () => true,
    () => false,
  );
};
const name = () => `n${randomUUID().slice(0, 8)}`;

test('every protocol calls an operation, waits for one that is a workflow, and cancels it', async () => {
  const { workflow } = await stack.parts.temporal();
  await Promise.all(
    stack.clients.map(async (one) => {
      const greeted = await one.start('greet', { who: one.name }, randomUUID());
      expect((await ended(greeted, one)).result).toEqual({ result: `Hello, ${one.name}!` });

      const names = [name()];
      const token = await one.start('review', { names }, randomUUID());
      await eventually('the workflow runs', () => replied(names[0]!));
      expect((await ended(token, one)).result).toEqual({ [names[0]!]: 'good' });

      const other = [name()];
      const canceled = await one.start('review', { names: other }, randomUUID());
      const described = () => workflow.getHandle(`review-${other[0]}`).describe();
      await eventually('the workflow runs', () =>
        described().then(
          () => true,
          () => false,
        ),
      );
      await one.cancel(canceled);
      expect([one.name, (await ended(canceled, one)).states]).toEqual([
        one.name,
        expect.arrayContaining(['canceled']),
      ]);
      await eventually('so is the workflow', async () => (await described()).status.name === 'CANCELLED');
    }),
  );
});

test('a refusal and a time-out end as they should; an operation or endpoint that does not exist is named', async () => {
  const [late, unknown, nowhere] = await Promise.all([
    start('short', { names: [name()] }),
    start('unknown', {}),
    start('nowhere', {}),
  ]);
  const refused = await start('refuse', { why: 'closed today' });
  const { states, raw } = await ended(refused);
  expect(states).toEqual(['failed']);
  expect(JSON.stringify(raw)).toContain('closed today');
  expect((await ended(late)).states).toEqual(['timed_out']);
  for (const [tool, token] of [
    ['unknown', unknown],
    ['nowhere', nowhere],
  ] as const) {
    const named = await until('it is named', token, (reading) =>
      JSON.stringify(reading.raw).replace(`"tool":"${tool}"`, '').includes(tool),
    );
    expect(JSON.stringify(named.raw)).toMatch(/endpoint|operation/);
    await stack.client.cancel(token);
  }
});

test('a service that lists its tools is served as it is', async () => {
  const { result } = await stack.parts.client.request('tools/list');
  const { tools, _meta: meta } = result as Record<string, any>;
  const listed = tools.map((tool: { name: string }) => tool.name);
  expect(listed).toEqual(expect.arrayContaining(['desk_greet', 'desk_review']));
  expect(listed).not.toContain('desk_refuse');
  expect(tools.find((tool: { name: string }) => tool.name === 'desk_greet')).toMatchObject({
    description: expect.stringContaining('Greets somebody.'),
    annotations: { readOnlyHint: true },
  });
  // One of its tools, and a service that isn't there: named, with their file and reason.
  expect(JSON.stringify(meta)).toMatch(/service\.yaml: the Nexus service \\"desk\\".*wait/);
  expect(JSON.stringify(meta)).toContain('lost.yaml: the Nexus service');
  await expect(stack.parts.client.start('lost_find', {})).rejects.toThrow('its tools are not known yet');

  const greeted = await start('desk_greet', { name: 'Ada' });
  expect((await ended(greeted)).result).toEqual({ result: 'Hello, Ada!' });
  const names = [name()];
  const token = await start('desk_review', { names });
  await eventually('the workflow runs', () => replied(names[0]!));
  expect((await ended(token)).result).toEqual({ [names[0]!]: 'good' });
});
