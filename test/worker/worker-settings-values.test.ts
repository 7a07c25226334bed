/** Values of the settings of Temporal's Worker: what is understood, and what is refused before anything starts. */
import { describe, expect, test } from '@jest/globals';
import { loadSettings, settingsToEnvironment } from '../../platform/settings/index.js';

const load = (flags: Parameters<typeof loadSettings>[0], environment: NodeJS.ProcessEnv = {}) =>
  loadSettings(flags, environment, '/');

describe('settings of the worker', () => {
  test.each([
    ['300', 300],
    ['200MB', 666],
    ['0.6 mb', 2],
    ['1GB', 3_333],
  ])('maxCachedWorkflows %s is %i workflows', async (given, count) => {
    expect(await load({ maxCachedWorkflows: given })).toMatchObject({ maxCachedWorkflows: count });
  });

  test('the sticky time-out is 2 s with the embedded Temporal, 10 s with another one, or as set', async () => {
    const name = 'stickyQueueScheduleToStartTimeoutSeconds';
    expect((await load({}))[name]).toBe(2);
    expect((await load({}, { TEMPORAL_ADDRESS: 'temporal.example:7233' }))[name]).toBe(10);
    expect((await load({ [name]: '4' }))[name]).toBe(4);
  });

  test.each([
    ['5m', 300_000],
    ['90s', 90_000],
    ['90 s', 90_000],
    ['0s', 0],
    ['1.5h', 5_400_000],
    ['1500ms', 1_500],
    ['24h', 86_400_000],
  ])('the drain timeout %s is %i ms', async (given, drainTimeoutMs) => {
    expect(await load({ drainTimeout: given })).toMatchObject({ drainTimeoutMs });
    expect(await load({}, { LONGHAUL_DRAIN_TIMEOUT: given })).toMatchObject({ drainTimeoutMs });
  });

  test('the drain timeout is 5 minutes by default, and 5 s under `longhaul up`, whatever is set', async () => {
    expect(await load({})).toMatchObject({ drainTimeoutMs: 300_000 });
    expect(await load({}, { LONGHAUL_SUPERVISED: '1' })).toMatchObject({ drainTimeoutMs: 5_000 });
    expect(await load({ drainTimeout: '1h' }, { LONGHAUL_SUPERVISED: '1' })).toMatchObject({
      drainTimeoutMs: 5_000,
    });
  });

  test('child processes read the same', async () => {
    const settings = await load({
      maxCachedWorkflows: '200MB',
      maxConcurrentActivityTaskExecutions: 20,
      targetCpuUsage: '0.9',
      targetMemoryUsage: 0.8,
      maxTaskQueueActivitiesPerSecond: 0.5,
      drainTimeout: '1001ms',
    });
    expect(await load({}, settingsToEnvironment(settings))).toEqual(settings);
  });
});

const CACHE =
  'expected a number of workflows from 2 to 100000, or the memory for them, such as 200MB, at 0.3 MB each; got';
const DRAIN = '--drain-timeout: expected a time with its unit, such as 5m, 90s or 0s, up to 24h; got';

test.each([
  [{ maxCachedWorkflows: 'many' }, `--max-cached-workflows: ${CACHE} "many"`],
  [{ maxCachedWorkflows: '200KB' }, `${CACHE} "200KB"`],
  [{ maxCachedWorkflows: '0.3MB' }, `${CACHE} "0.3MB"`],
  [{ maxCachedWorkflows: 1 }, `${CACHE} 1`],
  [{ maxConcurrentActivityTaskExecutions: '0' }, 'expected a whole number from 1 to 10000; got "0"'],
  [{ maxConcurrentActivityTaskExecutions: '1.5' }, 'expected a whole number from 1 to 10000; got "1.5"'],
  [
    { targetCpuUsage: '80', targetMemoryUsage: 0.8 },
    '--target-cpu-usage: expected a number from 0.01 to 1; got "80"',
  ],
  [
    { targetCpuUsage: 0.8, targetMemoryUsage: 0 },
    '--target-memory-usage: expected a number from 0.01 to 1; got 0',
  ],
  [{ maxTaskQueueActivitiesPerSecond: 'fast' }, 'expected a number from 0.01 to 100000; got "fast"'],
  [{ drainTimeout: '300' }, `${DRAIN} "300"`],
  [{ drainTimeout: 300 }, `${DRAIN} 300`],
  [{ drainTimeout: '0' }, `${DRAIN} "0"`],
  [{ drainTimeout: 'soon' }, `${DRAIN} "soon"`],
  [{ drainTimeout: '5 parsecs' }, `${DRAIN} "5 parsecs"`],
  [{ drainTimeout: '1m 30s' }, `${DRAIN} "1m 30s"`],
  [{ drainTimeout: '-5s' }, `${DRAIN} "-5s"`],
  [{ drainTimeout: '25h' }, `${DRAIN} "25h"`],
  [{ drainTimeout: `${'1'.repeat(200)}s` }, `${DRAIN} "1111`],
  [{ stickyQueueScheduleToStartTimeoutSeconds: '10s' }, 'expected a number from 1 to 60; got "10s"'],
  [{ targetCpuUsage: '0.8' }, '--target-cpu-usage: expected --target-memory-usage too; got "0.8"'],
  [{ targetMemoryUsage: 0.8 }, '--target-memory-usage: expected --target-cpu-usage too; got 0.8'],
])('refused %j', async (flags, message) => {
  await expect(load(flags)).rejects.toThrow(message);
});

test('refused from the environment, with the variable', async () => {
  await expect(load({}, { LONGHAUL_TARGET_CPU_USAGE: '0.8' })).rejects.toThrow(
    'LONGHAUL_TARGET_CPU_USAGE: expected --target-memory-usage too; got "0.8"',
  );
});
