/**
 * Times of a Temporal Schedule that a signature covers. Cron expressions and intervals mean what they mean to Temporal
 * (temporal.api.schedule.v1, `ScheduleSpec`): a time matches if all fields do, in its time zone.
 */
import { LonghaulError } from '../errors.js';

/** Overlap policies, as Temporal's command line names them. */
export const OVERLAP_POLICIES = [
  'Skip',
  'BufferOne',
  'BufferAll',
  'CancelOther',
  'TerminateOther',
  'AllowAll',
] as const;

export interface ScheduleTimes {
  /** Cron expressions with 5 to 7 fields, or such as `@daily`. */
  cron: string[];
  /** Intervals with their phase, such as `1d` or `1h/15m`. */
  intervals: string[];
  /** IANA time zone of cron expressions without their own. Default: UTC. */
  timeZone?: string;
  /** All but `AllowAll` let one run be open at a time. */
  overlap: (typeof OVERLAP_POLICIES)[number];
  /** ISO 8601, UTC: earlier times don't count. */
  from: string;
}

interface Field {
  name: string;
  least: number;
  most: number;
  /** Names of the values from `least` on; three letters are enough. */
  names?: readonly string[];
}

const MONTHS = 'january february march april may june july august september october november december';
const WEEKDAYS = 'sunday monday tuesday wednesday thursday friday saturday';

/** In the order of an expression with seven fields. 7 is Sunday too. */
const FIELDS: readonly Field[] = [
  { name: 'second', least: 0, most: 59 },
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day of month', least: 1, most: 31 },
  { name: 'month', least: 1, most: 12, names: MONTHS.split(' ') },
  { name: 'day of week', least: 0, most: 7, names: WEEKDAYS.split(' ') },
  { name: 'year', least: 2000, most: 2100 },
];

const SHORTHANDS: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

type Matches = (timeMs: number) => boolean;

/** @throws LonghaulError `invalid_arguments` for a schedule without times, or with unreadable ones */
export function assertScheduleTimes(times: ScheduleTimes): void {
  if (times.cron.length + times.intervals.length === 0)
    throw new LonghaulError(
      'invalid_arguments',
      '--schedule: expected a cron expression or an interval (--cron, --interval); got neither',
    );
  matchersOf(times);
}

/** Whether a schedule has this time, in epoch milliseconds. */
export function isScheduledTime(times: ScheduleTimes, timeMs: number): boolean {
  return timeMs >= Date.parse(times.from) && matchersOf(times).some((matches) => matches(timeMs));
}

export function describeTimes({ cron, intervals, timeZone, from }: ScheduleTimes): string {
  const all = [...cron.map((each) => `cron ${each}`), ...intervals.map((each) => `every ${each}`)];
  return `${all.join(', ')}${timeZone === undefined ? '' : ` in ${timeZone}`}, since ${from}`;
}

function matchersOf({ cron, intervals, timeZone = 'UTC' }: ScheduleTimes): Matches[] {
  return [
    ...cron.map((each) => cronMatcher(each, timeZone)),
    ...intervals.map((each) => intervalMatcher('--interval', each)),
  ];
}

function cronMatcher(expression: string, defaultZone: string): Matches {
  const [, ownZone, spec = ''] = /^\s*(?:(?:CRON_)?TZ=(\S+)\s+)?([^#]*?)\s*(?:#.*)?$/.exec(expression) ?? [];
  const [, every] = /^@every\s+(\S+)$/.exec(spec) ?? [];
  if (every !== undefined) return intervalMatcher('--cron', every);
  const parts = (SHORTHANDS[spec] ?? spec).split(/\s+/).filter(Boolean);
  if (parts.length < 5 || parts.length > 7) throw invalid('--cron', '5, 6 or 7 fields', expression);
  if (parts.length < 7) parts.unshift('0');
  if (parts.length < 7) parts.push('*');
  const allowed = FIELDS.map((field, index) => valuesOf(parts[index]!, field, expression));
  const fieldsAt = clockOf(ownZone ?? defaultZone);
  return (timeMs) => fieldsAt(timeMs).every((value, index) => allowed[index]!.has(value));
}

/** Values of a field such as `*`, `1,15`, `9-17`, `MON-FRI` or `5/10`. */
function valuesOf(text: string, field: Field, expression: string): Set<number> {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const [, from, to, step] = /^(\*|\w+)(?:-(\w+))?(?:\/(\d+))?$/.exec(part) ?? [];
    const least = from === '*' ? field.least : valueOf(from, field);
    const isOne = from !== '*' && to === undefined && step === undefined;
    const most = to === undefined ? (isOne ? least : field.most) : valueOf(to, field);
    const by = step === undefined ? 1 : Number(step);
    if (least === undefined || most === undefined || most < least || by < 1 || (from === '*' && to))
      throw invalid('--cron', `values of ${field.least} to ${field.most} as the ${field.name}`, expression);
    for (let value = least; value <= most; value += by) values.add(value);
  }
  if (field.name === 'day of week' && values.has(7)) values.add(0);
  return values;
}

function valueOf(text: string | undefined, { least, most, names = [] }: Field): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text) >= least && Number(text) <= most ? Number(text) : undefined;
  const index = names.findIndex((name) => text.length >= 3 && name.startsWith(text.toLowerCase()));
  return index < 0 ? undefined : least + index;
}

/** Reads the fields of a time in a zone, in the order of {@link FIELDS}. */
function clockOf(timeZone: string): (timeMs: number) => number[] {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    });
  } catch {
    throw invalid('--time-zone', 'a name of the IANA time zone database, such as Europe/Berlin', timeZone);
  }
  return (timeMs) => {
    const parts = Object.fromEntries(
      format.formatToParts(timeMs).map(({ type, value }) => [type, Number(value)]),
    ) as Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>;
    const { year, month, day, hour, minute, second } = parts;
    const weekday = new Date(Date.UTC(year, month - 1, day)).getUTCDay();
    return [second, minute, hour, day, month, weekday, year];
  };
}

function intervalMatcher(flag: string, text: string): Matches {
  const [every = '', phase = '0s', ...more] = text.split('/');
  const [everySeconds, phaseSeconds] = [secondsOf(every), secondsOf(phase)];
  if (!everySeconds || phaseSeconds === undefined || more.length > 0)
    throw invalid(flag, 'an interval and its phase in whole d, h, m and s, such as 1d or 1h/15m', text);
  return (timeMs) => (timeMs / 1000 - phaseSeconds) % everySeconds === 0;
}

function secondsOf(text: string): number | undefined {
  if (!/^(\d{1,9}[dhms])+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+)([dhms])/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_SECONDS[unit!]!, 0);
}

function invalid(flag: string, expected: string, got: string): LonghaulError {
  return new LonghaulError('invalid_arguments', `${flag}: expected ${expected}; got ${JSON.stringify(got)}`);
}
