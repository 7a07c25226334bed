/** Times of a schedule: cron expressions and intervals as Temporal reads them. */
import { expect, test } from '@jest/globals';
import {
  assertScheduleTimes,
  describeTimes,
  isScheduledTime,
  type ScheduleTimes,
} from '../../operations/tool/schedule-times.js';

const timesOf = (times: Partial<ScheduleTimes>): ScheduleTimes => ({
  ...{ cron: [], intervals: [], overlap: 'Skip', from: '2020-01-01T00:00:00Z' },
  ...times,
});
const fits = (times: Partial<ScheduleTimes>, time: string) =>
  isScheduledTime(timesOf(times), Date.parse(time));

// 2026-11-23 is a Monday.
test.each<[string, string[], string[]]>([
  [
    '0 3 * * *',
    ['2026-11-23T03:00:00Z'],
    ['2026-11-23T03:00:01Z', '2026-11-23T03:01:00Z', '2026-11-23T15:00:00Z'],
  ],
  ['*/15 * * * *', ['2026-11-23T03:45:00Z'], ['2026-11-23T03:46:00Z']],
  [
    '5/20 * * * *',
    ['2026-11-23T03:05:00Z', '2026-11-23T03:45:00Z'],
    ['2026-11-23T03:00:00Z', '2026-11-23T03:20:00Z'],
  ],
  ['0 9-17/4 * * MON-FRI', ['2026-11-23T13:00:00Z'], ['2026-11-22T13:00:00Z', '2026-11-23T12:00:00Z']],
  ['0 0 * * 7', ['2026-11-22T00:00:00Z'], ['2026-11-23T00:00:00Z']],
  ['0 0 * * 5-7', ['2026-11-22T00:00:00Z', '2026-11-20T00:00:00Z'], ['2026-11-23T00:00:00Z']],
  // Both days have to match, unlike in cron.
  ['0 0 23 * 1', ['2026-11-23T00:00:00Z'], ['2026-12-23T00:00:00Z', '2026-11-30T00:00:00Z']],
  ['0 0 1 jan,July *', ['2026-01-01T00:00:00Z', '2026-07-01T00:00:00Z'], ['2026-06-01T00:00:00Z']],
  ['0 0 1 1 * 2027', ['2027-01-01T00:00:00Z'], ['2026-01-01T00:00:00Z']],
  ['30 0 0 1 1 * 2027', ['2027-01-01T00:00:30Z'], ['2027-01-01T00:00:00Z']],
  ['@weekly', ['2026-11-22T00:00:00Z'], ['2026-11-23T00:00:00Z']],
  ['@daily # at night', ['2026-11-23T00:00:00Z'], ['2026-11-23T01:00:00Z']],
  ['@every 6h/15m', ['2026-11-23T06:15:00Z'], ['2026-11-23T06:00:00Z']],
  [
    'CRON_TZ=Europe/Berlin 0 3 * * *',
    ['2026-11-23T02:00:00Z', '2026-07-23T01:00:00Z'],
    ['2026-11-23T03:00:00Z'],
  ],
  ['TZ=Asia/Kolkata 30 5 * * *', ['2026-11-23T00:00:00Z'], ['2026-11-23T05:30:00Z']],
])('cron %s', (cron, matching, others) => {
  for (const time of matching) expect([time, fits({ cron: [cron] }, time)]).toEqual([time, true]);
  for (const time of others) expect([time, fits({ cron: [cron] }, time)]).toEqual([time, false]);
});

test('the time zone holds for expressions without one; the clocks of summer and winter count', () => {
  const times = { cron: ['30 2 * * *', 'TZ=UTC 0 5 * * *'], timeZone: 'America/New_York' };
  expect(fits(times, '2026-01-15T07:30:00Z')).toBe(true);
  expect(fits(times, '2026-07-15T06:30:00Z')).toBe(true);
  expect(fits(times, '2026-07-15T07:30:00Z')).toBe(false);
  expect(fits(times, '2026-07-15T05:00:00Z')).toBe(true);
  // On the day that has no 2:30.
  for (const time of ['2026-03-08T06:30:00Z', '2026-03-08T07:30:00Z']) expect(fits(times, time)).toBe(false);
});

test('an interval counts from 1970, with its phase', () => {
  expect(fits({ intervals: ['28d'] }, '2022-02-17T00:00:00Z')).toBe(true);
  expect(fits({ intervals: ['28d/3d5h23m'] }, '2022-02-20T05:23:00Z')).toBe(true);
  expect(fits({ intervals: ['28d/3d5h23m'] }, '2022-02-17T00:00:00Z')).toBe(false);
  expect(fits({ intervals: ['1d'], cron: ['0 3 * * *'] }, '2026-11-23T03:00:00Z')).toBe(true);
});

test('times before the signature do not count', () => {
  const times = { intervals: ['1h'], from: '2026-11-23T12:00:00.001Z' };
  expect(fits(times, '2026-11-23T12:00:00Z')).toBe(false);
  expect(fits(times, '2026-11-23T13:00:00Z')).toBe(true);
});

test.each<[string, Partial<ScheduleTimes>, string]>([
  ['no times', {}, '--schedule: expected a cron expression or an interval (--cron, --interval)'],
  ['too few fields', { cron: ['0 3 * *'] }, '--cron: expected 5, 6 or 7 fields; got "0 3 * *"'],
  ['a value out of range', { cron: ['0 24 * * *'] }, '--cron: expected values of 0 to 23 as the hour'],
  ['a range backwards', { cron: ['0 5-3 * * *'] }, '--cron: expected values of 0 to 23 as the hour'],
  ['a step of 0', { cron: ['*/0 * * * *'] }, '--cron: expected values of 0 to 59 as the minute'],
  ['an unknown name', { cron: ['0 0 * * MOO'] }, '--cron: expected values of 0 to 7 as the day of week'],
  ['an unknown shorthand', { cron: ['@nightly'] }, '--cron: expected 5, 6 or 7 fields'],
  [
    'an unknown time zone',
    { cron: ['@daily'], timeZone: 'Mars' },
    '--time-zone: expected a name of the IANA',
  ],
  ['an interval of nothing', { intervals: ['0s'] }, '--interval: expected an interval and its phase'],
  ['an interval without a unit', { intervals: ['90'] }, '--interval: expected an interval and its phase'],
  ['two phases', { intervals: ['1h/1m/1m'] }, '--interval: expected an interval and its phase'],
])('refused are %s', (_what, times, message) => {
  expect(() => assertScheduleTimes(timesOf(times))).toThrow(message);
});

test('messages name the times', () => {
  expect(describeTimes(timesOf({ cron: ['@daily'], intervals: ['6h'], timeZone: 'Europe/Berlin' }))).toBe(
    'cron @daily, every 6h in Europe/Berlin, since 2020-01-01T00:00:00Z',
  );
});
