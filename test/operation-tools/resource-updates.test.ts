import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PipelineProject } from '../pipelines/support.js';
import { eventually } from '../stack/cli-process.js';
import { SUBSCRIPTION_ID, subscribe, type Message } from '../subscriptions/support.js';
import { PROCESSES_MS } from '../support/limits.js';

const PIPELINES = {
  talk: `
inputs: { properties: { ledger: { type: string } }, required: [ledger] }
jobs:
  build:
    steps:
      - run: |
          until [ -e "$INPUT_LEDGER.go" ]; do sleep 0.1; done
          echo one
          until [ -e "$INPUT_LEDGER.end" ]; do sleep 0.1; done
          echo two
      - run: 'true'
`,
};

let project: PipelineProject;
beforeAll(async () => {
  project = await PipelineProject.shared(PIPELINES);
}, PROCESSES_MS);
afterAll(() => project?.stop());

const touch = (name: string) => writeFileSync(join(project.ledgers, name), '');

test('a subscriber to a log and a result is notified when they change, and of nothing else', async () => {
  const { result: discovered } = await project.client.request('server/discover');
  expect(discovered.capabilities.resources).toEqual({ subscribe: true });
  const token = await project.startOn('talk', 'notified');
  const log = `longhaul://operations/${token}/logs/build%2F1`;
  const result = `longhaul://operations/${token}/result`;
  const unknown = ['longhaul://operations/nope/result', 'file:///etc/passwd', `${result}s`];
  const { messages, subscriptionId, close, ended } = await subscribe(project.client, {
    resourceSubscriptions: [log, result, ...unknown],
  });
  const updates = (uri: string) => messages.filter(({ params }: Message) => params?.uri === uri);
  await eventually('it is acknowledged', () => messages.length > 0);
  expect(messages[0]).toMatchObject({
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications: { resourceSubscriptions: [log, result] } },
  });
  await eventually('the log is there', () => updates(log).length === 1);
  touch('notified.go');
  await eventually('the log has grown', () => updates(log).length === 2);
  expect(updates(result)).toEqual([]);
  touch('notified.end');
  await eventually('there is a result', () => updates(result).length === 1);
  await eventually('the log is complete', () => updates(log).length >= 3);
  expect(updates(result)[0]).toMatchObject({
    method: 'notifications/resources/updated',
    params: { uri: result, _meta: { [SUBSCRIPTION_ID]: subscriptionId } },
  });
  const { result: read } = await project.client.request('resources/read', { uri: log });
  expect(read.contents[0]).toMatchObject({
    text: 'one\ntwo\n',
    _meta: { 'longhaul/log': { is_complete: true } },
  });
  close();
  await ended;
});
