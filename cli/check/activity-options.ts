/** Options of activities and durations in workflows, which Temporal checks only once a workflow uses them. */
import { didYouMean } from '../../operations/json/near-names.js';
import type { ProjectProblem } from '../../platform/project/problems.js';
import { calledName, nameOf, propertiesOf, walk, type Node, type ParsedFile } from './parsed-workflows.js';

const TIMEOUTS = ['startToCloseTimeout', 'scheduleToCloseTimeout', 'scheduleToStartTimeout'];
const RETRY = [
  'initialInterval',
  'backoffCoefficient',
  'maximumInterval',
  'maximumAttempts',
  'nonRetryableErrorTypes',
];
const COMMON = [...TIMEOUTS, 'retry', 'cancellationType', 'summary'];

/** Function -> its options. */
const OPTIONS: Partial<Record<string, string[]>> = {
  proxyActivities: [
    ...COMMON,
    ...['heartbeatTimeout', 'taskQueue', 'activityId', 'allowEagerDispatch', 'versioningIntent', 'priority'],
  ],
  proxyLocalActivities: [...COMMON, 'localRetryThreshold', 'activityId'],
};
/** Function -> position of its duration. */
const DURATIONS: Partial<Record<string, number>> = { sleep: 0, condition: 1 };

export function optionMistakes(file: ParsedFile): ProjectProblem[] {
  const found: ProjectProblem[] = [];
  walk(file.program, (node) => {
    const name = calledName(node) ?? '';
    const given = (node['arguments'] ?? []) as Node[];
    const known = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined;
    if (known) found.push(...ofOptions(file, node, known));
    const at = Object.hasOwn(DURATIONS, name) ? DURATIONS[name] : undefined;
    const duration = at === undefined ? undefined : given[at];
    const problem = duration && durationProblem(duration, name === 'sleep');
    if (problem) found.push(file.problemAt(duration, `${name}(): ${problem}`));
  });
  return found;
}

function ofOptions(file: ParsedFile, call: Node, known: string[]): ProjectProblem[] {
  const [given] = call['arguments'] as Node[];
  const options = given && literalOf(given, file.program);
  if (given && !options) return [];
  const properties = options ? propertiesOf(options) : [];
  const names = properties.map(({ key }) => nameOf(key) ?? '');
  const isWhole = properties.length === ((options?.['properties'] ?? []) as Node[]).length;
  const hasTimeout = names.some((name) => name === TIMEOUTS[0] || name === TIMEOUTS[1]);
  const missing = file.problemAt(
    given ?? call,
    `${calledName(call)}(): expected startToCloseTimeout or scheduleToCloseTimeout, such as { startToCloseTimeout: '10m' }; without one, no activity starts`,
  );
  return [
    ...properties.flatMap((one) => ofProperty(file, one, known)),
    ...(isWhole && !hasTimeout && names.every((name) => known.includes(name)) ? [missing] : []),
  ];
}

/** An object that is written there, or as a variable of the file. */
function literalOf(node: Node, program: Node): Node | undefined {
  if (node.type === 'ObjectExpression') return node;
  let found: Node | undefined;
  walk(program, (one) => {
    const init = one['init'] as Node | null | undefined;
    const isMeant = one.type === 'VariableDeclarator' && nameOf(one['id']) === nameOf(node);
    if (isMeant && init?.type === 'ObjectExpression') found = init;
  });
  return found;
}

function ofProperty(file: ParsedFile, property: Node, known: string[], above = ''): ProjectProblem[] {
  const name = nameOf(property['key']) ?? '';
  const value = property['value'] as Node;
  const problem = (message: string) => file.problemAt(property, `${above}${name}: ${message}`);
  if (property['computed'] === true) return [];
  if (!known.includes(name)) {
    const isOfRetry =
      /^(retries|attempts|maxRetries|maxAttempts|maxRetry)$/.test(name) || RETRY.includes(name);
    const cure = isOfRetry
      ? `; write ${above ? 'maximumAttempts' : 'retry: { maximumAttempts: 3 }'}`
      : didYouMean(name, known) || `; known are ${known.join(', ')}`;
    return [problem(`unknown option${cure}`)];
  }
  if (name === 'retry') return propertiesOf(value).flatMap((one) => ofProperty(file, one, RETRY, 'retry.'));
  const number = numberOf(value);
  if (name === 'maximumAttempts' && number !== undefined && !(number > 0))
    return [problem(`expected a number above 0; got ${number}`)];
  if (!/Timeout$|Interval$|Threshold$/.test(name)) return [];
  const wrong = durationProblem(value, false);
  return wrong === undefined ? [] : [problem(wrong)];
}

const UNITS =
  'ms|milliseconds?|msecs?|s|seconds?|secs?|m|minutes?|mins?|h|hours?|hrs?|d|days?|w|weeks?|y|years?|yrs?';
const DURATION = new RegExp(String.raw`^\d*\.?\d+ *(${UNITS})?$`, 'i');
/** Numbers up to this are meant as seconds or minutes. */
const FEW_MS = 100;

/** @returns undefined for what isn't written there, and for durations */
function durationProblem(value: Node, mayBeShort: boolean): string | undefined {
  const number = numberOf(value);
  if (number !== undefined) {
    if (number < 0 || (number === 0 && !mayBeShort))
      return `expected a duration above 0, such as '10m'; got ${number}`;
    const isShort = number > 0 && number <= FEW_MS && !mayBeShort;
    return isShort ? `${number} is ${number} ms; write '${number}s' or '${number}m'` : undefined;
  }
  if (value.type !== 'Literal' || typeof value['value'] !== 'string') return undefined;
  const text = value['value'];
  if (!DURATION.test(text)) return `expected a duration such as '30s', '10m' or '2 hours'; got '${text}'`;
  return Number.parseFloat(text) === 0 && !mayBeShort
    ? `expected a duration above 0; got '${text}'`
    : undefined;
}

function numberOf(node: Node): number | undefined {
  if (node.type === 'UnaryExpression' && node['operator'] === '-') {
    const positive = numberOf(node['argument'] as Node);
    return positive === undefined ? undefined : -positive;
  }
  return node.type === 'Literal' && typeof node['value'] === 'number' ? node['value'] : undefined;
}
