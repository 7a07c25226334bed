import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { STACK_MS } from '../support/limits.js';
import { eventually, kill, TestHome } from './cli-process.js';

jest.setTimeout(STACK_MS);

let home: TestHome;
beforeEach(async () => {
  home = await TestHome.create();
});
afterEach(() => home.remove());

test('an error in a log has its type, message, stack and cause', () => {
  const code = `
    const { createLogger } = await import(${JSON.stringify(resolve('dist/platform/observe/log.js'))});
    const logger = createLogger('test');
    const error = new TypeError('no such thing', { cause: new Error('the disk is full') });
    logger.error({ err: error }, 'by our convention');
    logger.error({ error }, 'by that of the SDK');
  `;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const entries = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(entries).toHaveLength(2);
  for (const { err, error } of entries) {
    const logged = err ?? error;
    expect(logged).toMatchObject({ type: 'TypeError', message: 'no such thing: the disk is full' });
    expect(logged.stack).toContain('at ');
  }
});

test("a worker's complaints about an outage of Temporal are JSON lines, none of which is for the console", async () => {
  const temporal = home.run(['temporal']);
  await eventually('Temporal has left its address', () => home.state().temporalAddress);
  const worker = home.run(['worker'], { LONGHAUL_LOG_LEVEL: 'debug' });
  await eventually('the worker runs', () => worker.stderr().includes('worker runs'));
  kill(temporal.pid);
  await eventually("the SDK's core has complained", () => worker.stderr().includes('"sdkComponent":"core"'));
  worker.process.kill('SIGKILL');
  await worker.ended;
  const lines = worker.stderr().trim().split('\n');
  expect(lines.filter((line) => !line.startsWith('{'))).toEqual([]);
  // `longhaul up` shows what is a warning or worse.
  const ofCore = lines.map((line) => JSON.parse(line)).filter(({ sdkComponent }) => sdkComponent === 'core');
  expect(ofCore.filter(({ level }) => level >= 40)).toEqual([]);
});
