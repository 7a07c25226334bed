import { expect, test } from '@jest/globals';
import { chooseStep, stepReference } from '../../operations/steps.js';
import type { ChildRecord, ChildStatus } from '../../operations/record.js';

/** `build: Install=completed@1 Compile=failed@2`: a job, and its steps with status and time of their start. */
function job(text: string): ChildRecord {
  const [name = '', steps = ''] = text.split(': ');
  return {
    name,
    status: 'working',
    steps: steps.split(' ').map((step) => {
      const [, stepName = '', status, at] = /^([^=]+)=(\w+)(?:@(\d))?$/.exec(step) ?? [];
      return {
        name: stepName,
        status: status as ChildStatus,
        ...(at ? { startedAt: `2026-11-21T12:00:0${at}.000Z` } : {}),
      };
    }),
  };
}

const JOBS = [
  job('build: Install=completed@1 Compile=failed@2 Report=completed@5'),
  job('test[0]: Unit=working@3 1=pending'),
  job('test[1]: Unit=working@4 a/b=pending'),
  job('last: Done=pending'),
];

test.each([
  [undefined, 'test[1]/1'],
  ['build', 'build/2'],
  ['test', 'test[1]/1'],
  ['test[0]', 'test[0]/1'],
  ['build/3', 'build/3'],
  ['build/Install', 'build/1'],
  ['test[0]/1', 'test[0]/1'],
  ['test/a/b', 'test[1]/2'],
  ['last/Done', 'last/1'],
])('%s means %s', (reference, chosen) => {
  expect(stepReference(chooseStep(JOBS, reference))).toBe(chosen);
});

test.each([
  [[job('a: x=completed@1 y=input_required@2'), job('b: z=failed@3')], 'a/2'],
  [[job('a: x=failed@2'), job('b: y=completed@3')], 'a/1'],
  [[job('a: x=completed@3'), job('b: y=canceled@2')], 'a/1'],
])('when nothing runs, what waits, else what failed, else what started last is meant', (jobs, chosen) => {
  expect(stepReference(chooseStep(jobs))).toBe(chosen);
});

test.each([
  ['nope', 'step: expected one of build/1 ("Install", completed), build/2'],
  ['build/7', 'build/3 ("Report", completed); got "build/7"'],
  ['test/Unit', 'which is any of test[0]/1 ("Unit", working), test[1]/1 ("Unit", working)'],
  ['last', 'no step of last has started yet, so there is no log; the steps are last/1 ("Done", pending)'],
])('%s is refused with the steps there are', (reference, message) => {
  expect(() => chooseStep(JOBS, reference)).toThrow(message);
});
