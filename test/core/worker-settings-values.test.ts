/** Values of the settings of Temporal's Worker: what is understood, and what is refused before anything starts. */
import { describe, expect, test } from '@jest/globals';
import { loadSettings, settingsToEnvironment } from '../../platform/config.js';
import { parsePollerBehavior } from '../../platform/poller-behavior.js';

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

  test.each([
    ['10', { type: 'simple-maximum', maximum: 10 }],
    ['autoscaling', { type: 'autoscaling', minimum: 1, maximum: 100, initial: 5 }],
    ['autoscaling:maximum=3', { type: 'autoscaling', minimum: 1, maximum: 3, initial: 3 }],
    ['autoscaling:minimum=8', { type: 'autoscaling', minimum: 8, maximum: 100, initial: 8 }],
    ['autoscaling:initial=200', { type: 'autoscaling', minimum: 1, maximum: 200, initial: 200 }],
    [
      'autoscaling:initial=4,maximum=9,minimum=2',
      { type: 'autoscaling', minimum: 2, maximum: 9, initial: 4 },
    ],
    ['', undefined],
    ['0', undefined],
    ['1001', undefined],
    ['-1', undefined],
    ['auto', undefined],
    ['autoscaling:', undefined],
    ['autoscaling:maximum=3,', undefined],
    ['autoscaling:maximum=3,maximum=4', undefined],
    ['autoscaling:minimum=0', undefined],
    ['autoscaling:maximum=0', undefined],
    ['autoscaling:minimum=9,maximum=2', undefined],
    ['autoscaling:minimum=2,maximum=9,initial=1', undefined],
    ['autoscaling:most=9', undefined],
  ])('the poller behavior %j is %j', (text, expected) => {
    expect(parsePollerBehavior(text)).toEqual(expected);
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
    ['90 seconds', 90_000],
    ['0s', 0],
    ['1.5h', 5_400_000],
    ['1500ms', 1_500],
    ['24h', 86_400_000],
    ['1d', 86_400_000],
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
      maxConcurrentWorkflowTaskExecutions: 20,
      targetCpuUsage: '0.9',
      targetMemoryUsage: 0.8,
      workflowTaskPollerBehavior: 'autoscaling:maximum=30',
      activityTaskPollerBehavior: 5,
      maxActivitiesPerSecond: 0.5,
      drainTimeout: '1001ms',
    });
    expect(await load({}, settingsToEnvironment(settings))).toEqual(settings);
  });
});

const CACHE =
  'expected a number of workflows from 2 to 100000, or the memory for them, such as 200MB, at 0.3 MB each; got';
const DRAIN = '--drain-timeout: expected a time with its unit, such as 5m, 90s or 0s, up to 24h; got';
const POLLS = '"autoscaling", with bounds such as "autoscaling:minimum=1,maximum=100,initial=5"; got';

describe('refused', () => {
  test.each([
    [{ maxCachedWorkflows: 'many' }, `--max-cached-workflows: ${CACHE} "many"`],
    [{ maxCachedWorkflows: '200KB' }, `${CACHE} "200KB"`],
    [{ maxCachedWorkflows: '0.3MB' }, `${CACHE} "0.3MB"`],
    [{ maxCachedWorkflows: 1 }, `${CACHE} 1`],
    [{ maxConcurrentWorkflowTaskExecutions: 1 }, 'expected number to be >=2; got 1'],
    [{ maxConcurrentActivityTaskExecutions: '0' }, 'expected number to be >=1; got "0"'],
    [{ maxConcurrentLocalActivityExecutions: '1.5' }, 'expected int'],
    [
      { targetCpuUsage: '80', targetMemoryUsage: 0.8 },
      '--target-cpu-usage: Too big: expected number to be <=1; got "80"',
    ],
    [
      { targetCpuUsage: 0.8, targetMemoryUsage: 0 },
      '--target-memory-usage: Too small: expected number to be >0; got 0',
    ],
    [
      { maxActivitiesPerSecond: 0 },
      '--max-activities-per-second: Too small: expected number to be >=0.01; got 0',
    ],
    [{ maxTaskQueueActivitiesPerSecond: 'fast' }, 'expected number, received NaN; got "fast"'],
    [{ drainTimeout: '300' }, `${DRAIN} "300"`],
    [{ drainTimeout: 300 }, `${DRAIN} 300`],
    [{ drainTimeout: '0' }, `${DRAIN} "0"`],
    [{ drainTimeout: 'soon' }, `${DRAIN} "soon"`],
    [{ drainTimeout: '5 parsecs' }, `${DRAIN} "5 parsecs"`],
    [{ drainTimeout: '1m 30s' }, `${DRAIN} "1m 30s"`],
    [{ drainTimeout: '-5s' }, `${DRAIN} "-5s"`],
    [{ drainTimeout: '25h' }, `${DRAIN} "25h"`],
    [{ drainTimeout: `${'1'.repeat(200)}s` }, `${DRAIN} "1111`],
    [{ stickyQueueScheduleToStartTimeoutSeconds: '10s' }, 'expected number, received NaN; got "10s"'],
    [{ workflowTaskPollerBehavior: '1' }, `expected a number of polls from 2 to 1000, or ${POLLS} "1"`],
    [{ activityTaskPollerBehavior: 'auto' }, `expected a number of polls from 1 to 1000, or ${POLLS} "auto"`],
    [
      { targetCpuUsage: '0.8' },
      '--target-cpu-usage: expected a target memory usage beside it (--target-memory-usage); got "0.8"',
    ],
    [
      { targetMemoryUsage: 0.8 },
      '--target-memory-usage: expected a target CPU usage beside it (--target-cpu-usage); got 0.8',
    ],
    [
      { maxConcurrentWorkflowTaskExecutions: 301 },
      '--max-concurrent-workflow-task-executions: expected at most as many as cached workflows (300; --max-cached-workflows); got 301',
    ],
    [
      { maxCachedWorkflows: '3MB', workflowTaskPollerBehavior: 11 },
      '--workflow-task-poller-behavior: expected at most as many polls as slots (10; --max-concurrent-workflow-task-executions); got 11',
    ],
    [
      { maxConcurrentActivityTaskExecutions: 4, activityTaskPollerBehavior: 5 },
      '--activity-task-poller-behavior: expected at most as many polls as slots (4; --max-concurrent-activity-task-executions); got 5',
    ],
  ])('%j', async (flags, message) => {
    await expect(load(flags)).rejects.toThrow(message);
  });

  test('from the environment, with the variable', async () => {
    await expect(load({}, { LONGHAUL_TARGET_CPU_USAGE: '0.8' })).rejects.toThrow(
      'LONGHAUL_TARGET_CPU_USAGE: expected a target memory usage beside it (--target-memory-usage); got "0.8"',
    );
  });
});
