/** Environments of the test kit beside each other, on Temporals and with pipelines of their own. */
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { Client } from '@temporalio/client';
import { linesOf } from '../pipelines/support.js';
import { eventually, isRunning } from '../stack/cli-process.js';
import { temporaryFolder } from '../support/for-all-tests.js';
import { connectToTemporal } from '../support/run-temporal.js';
import { TestToolEnvironment } from '../support/test-environment.js';
import { processesOf } from './processes.js';

const project = resolve('test/testing/project');
const folder = temporaryFolder('kits');
const ARGUMENTS = { sites: 2, surveyor: 'Ada' };

test('environments run side by side on Temporal that is shared or their own, and leave nothing behind', async () => {
  const embedded = await TestToolEnvironment.create({ project, temporal: 'embedded' });
  const shared = await TestToolEnvironment.create({ project });
  expect(shared.address).toBe(process.env['TEMPORAL_ADDRESS']);
  expect(embedded.address).not.toBe(shared.address);
  expect(embedded.taskQueue).not.toBe(shared.taskQueue);
  const tokens: string[] = [];
  for (const one of [embedded, shared]) {
    const operation = await one.start('survey', ARGUMENTS);
    await operation.question();
    tokens.push(operation.token);
  }
  const pids = [...(await processesOf(embedded)), ...(await processesOf(shared))];
  expect(pids).toHaveLength(2);
  const homes = [embedded.home, shared.home];
  for (const home of homes) expect(existsSync(home)).toBe(true);
  await Promise.all([embedded.close(), shared[Symbol.asyncDispose]()]);
  // Closing again is fine.
  await shared.close();
  expect(pids.filter(isRunning)).toEqual([]);
  for (const home of homes) expect(existsSync(home)).toBe(false);
  const temporal = new Client({ connection: await connectToTemporal() });
  await eventually('Temporal has forgotten the operation', () =>
    temporal.workflow
      .getHandle(tokens[1]!)
      .describe()
      .then(
        () => false,
        (error: Error) => error.name === 'WorkflowNotFoundError',
      ),
  );
  await temporal.connection.close();
});

test('a step of a pipeline continues without its worker, killed or stopped, and ends with its environment', async () => {
  const pipelines = mkdtempSync(join(folder, 'pipelines-'));
  const pids = join(pipelines, 'pids');
  writeFileSync(
    join(pipelines, 'wait.yml'),
    `jobs:
  work:
    steps:
      - run: |
          echo $PPID >> ${pids}; echo $$ >> ${pids}
          while [ ! -e ${pipelines}/go ]; do sleep 0.1; done
          echo "it continued"
      - run: echo $PPID >> ${pids}; echo $$ >> ${pids}; trap '' TERM; while sleep 0.1; do :; done
`,
  );
  const one = await TestToolEnvironment.create({
    project,
    settings: { shippedTools: false, pipelineFolders: [pipelines] },
  });
  try {
    const operation = await one.start('wait');
    const step = () => linesOf(pids).map(Number);
    await eventually('the step runs', () => step().length === 2);
    await one.killWorker();
    await one.startWorker();
    await one.stopWorker();
    expect(step().filter(isRunning)).toEqual(step());
    await one.startWorker();
    writeFileSync(join(pipelines, 'go'), '');
    await eventually('the next step runs', () => step().length === 4);
    expect(await operation.logs('work/1')).toEqual(['it continued']);
    expect(step().filter(isRunning)).toEqual(step().slice(2));
    await one.killWorker();
  } finally {
    await one.close();
  }
  expect(linesOf(pids).map(Number).filter(isRunning)).toEqual([]);
  expect(existsSync(one.home)).toBe(false);
});
