/** The draft of a tool over a workflow type: YAML with comments that say what it is based on, and what to check. */
import { Document, isMap, isScalar, isSeq, visit, type Node, type Scalar, type YAMLMap } from 'yaml';
import type { RunInfo } from '../../engine/list/current-runs.js';
import { humanDuration } from '../../operations/tool/budgets.js';
import { counted } from '../../operations/json/counted.js';
import { defined } from '../../operations/json/defined.js';
import { wrapText } from '../terminal/table.js';
import { inputsFor, outputFor } from './inputs.js';
import { cancelSignalOf, progressOf, questionOf } from './mappings.js';
import type { Observed, Definition } from './observed.js';
import { durationsOf, estimateMinutes, taskQueues, timeoutMinutes, statusCounts } from './runs.js';
import type { SeenValues } from './seen-values.js';
import { shapeText } from './shape.js';

export interface Found {
  type: string;
  /** All listed runs. */
  infos: RunInfo[];
  observed: Observed;
}

/** Where drafts come from. */
export interface Source {
  namespace: string;
  /** The namespace, if it isn't the one that Longhaul is connected to. */
  otherNamespace?: string;
  /** ISO 8601. */
  since: string;
  now: Date;
  /** Whether older runs were left out. */
  isLimited: boolean;
}

/** Width of comments and of folded YAML lines. */
const WIDTH = 120;

/** A key of the draft, which lacks it without a value, with the lines of its comment. */
type Key = [name: string, value: unknown, ...comments: string[]];

export function draftOf(name: string, found: Found, source: Source): string {
  const { type, infos, observed } = found;
  const [queue = 'default', ...otherQueues] = taskQueues(infos);
  const { medianSeconds, longestSeconds } = durationsOf(infos, source.now.getTime());
  const output = outputFor(observed.results);
  const question = questionOf(observed);
  const asks = question !== undefined;
  const { proposed: progress, suggestedQuery } = progressOf(observed, question?.question.query);
  const keys: Key[] = [
    [
      'description',
      `Runs the workflow ${type}.`,
      'What it does, for people and models; `use-when` says when a model should choose it.',
    ],
    [
      'workflow',
      defined({ type, 'task-queue': queue, namespace: source.otherNamespace }),
      ...(otherQueues.length > 0
        ? [`Also on ${counted(otherQueues.length, 'other task queue')}: ${otherQueues.join(', ')}.`]
        : []),
    ],
    ...inputKeys(observed),
    [
      'output',
      output === 'mixed' ? undefined : output,
      'Clients refuse a result that this excludes; it requires no field.',
      ...encodingLines(observed.results, 'Result'),
    ],
    [
      'estimate-minutes',
      medianSeconds === undefined ? undefined : estimateMinutes(medianSeconds),
      'Median of the completed runs.',
    ],
    [
      'timeout-minutes',
      timeoutMinutes(observed.timeoutsSeconds, longestSeconds, asks),
      observed.timeoutsSeconds.length > 0
        ? 'The longest execution time-out of the runs.'
        : `No run has an execution time-out; the longest took ${humanDuration(longestSeconds)}.${asks ? ' It includes the time that people take to answer.' : ''}`,
    ],
    ['progress', progress?.progress, `Proposed: ${progress?.reason}.`],
    [
      'question',
      question?.isSeen ? question.question : undefined,
      "Proposed by names: check the query's value, and `decline`.",
    ],
  ];
  const rest = [
    ...resultLines(observed, output),
    ...messageLines('Signals', observed.signals),
    ...messageLines('Updates', observed.updates),
    ...heartbeatLines(observed),
    ...definedLines(observed),
    '',
    ...suggestionLines(
      'If this query gives progress, with the fields of its value (each query is billed, and costs a worker its time):',
      suggestedQuery && { progress: { query: suggestedQuery, map: { progress: 'done', total: 'total' } } },
    ),
    ...suggestionLines(
      'If the workflow asks people (its answers are guesses):',
      question && !question.isSeen && { question: question.question },
    ),
    ...suggestionLines('If this signal cancels the work:', cancelOf(observed)),
    ...suggestionLines('To let operators adopt runs that others have started:', { adopt: true }),
  ];
  const comments = rest.flatMap(wrapped).map((line) => `#${line && ` ${line}`}\n`);
  return `${documentOf(keys, headerOf(name, found, source))}\n${comments.join('')}`;
}

function documentOf(keys: Key[], header: string[]): string {
  const document = new Document({});
  const { items } = document.contents as unknown as YAMLMap;
  document.commentBefore = asComment(header);
  for (const [name, value, ...comments] of keys) {
    if (value === undefined) continue;
    const pair = document.createPair<Scalar, Node>(name, value, { aliasDuplicateObjects: false });
    if (comments.length > 0) {
      pair.key.commentBefore = asComment(comments);
      // The header is followed by a blank line anyway.
      pair.key.spaceBefore = items.length > 0;
    }
    items.push(pair);
  }
  layOut(document);
  return document.toString({ lineWidth: WIDTH });
}

function inputKeys({ histories, inputs: seen }: Observed): Key[] {
  if (histories === 0) return [];
  const { properties, required, args } = inputsFor(seen);
  const { least, most } = seen;
  const number = least === most ? counted(most, 'argument') : `from ${least} to ${most} arguments`;
  const comments = [
    `Runs have ${number}. Required: those of every history that was read.`,
    ...encodingLines(seen, 'Argument'),
  ];
  if (Object.keys(properties).length === 0) return [['args', args, ...comments]];
  return [
    ['input', { properties, ...(required.length > 0 ? { required } : {}) }, ...comments],
    ['args', args],
  ];
}

function cancelOf(observed: Observed): object | undefined {
  const signal = cancelSignalOf(observed);
  return signal === undefined ? undefined : { cancel: { signal } };
}

function resultLines({ results }: Observed, output: unknown): string[] {
  if (output === 'mixed') return ['Results are objects and other values, so there is no `output`.'];
  return results.count === 0 ? ['No completed run was read, so there is no `output`.'] : [];
}

/** Keys to uncomment. */
function suggestionLines(when: string, keys: object | string | false | undefined): string[] {
  if (!keys) return [];
  const document = new Document(keys, { aliasDuplicateObjects: false });
  layOut(document);
  return [when, ...document.toString({ lineWidth: 0 }).trimEnd().split('\n')];
}

/** Puts small maps and lists on one line. */
function layOut(document: Document): void {
  visit(document, {
    Seq: (_key, node) => {
      if (node.items.every((item) => isScalar(item))) node.flow = true;
    },
    Map: (_key, node, path) => {
      const isSmall = node.items.length <= 4 && node.items.every(({ value }) => isPlain(value as Node));
      if (path.length > 1 && isSmall) node.flow = true;
    },
  });
}

function isPlain(node: Node | null): boolean {
  if (isSeq(node)) return node.items.every((item) => isScalar(item));
  return isScalar(node) || (isMap(node) && node.items.length === 0);
}

function asComment(lines: string[]): string {
  return lines
    .flatMap(wrapped)
    .map((line) => ` ${line}`)
    .join('\n');
}

/** Lines of at most {@link WIDTH} characters. A line without spaces stays whole. Indentation is YAML's. */
function wrapped(line: string): string[] {
  // Line breaks in foreign names would end the comment.
  // eslint-disable-next-line no-control-regex
  const text = line.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]/g, ' ');
  return text.startsWith(' ') ? [text] : wrapText(text, WIDTH);
}

/** @param noun of the values */
function encodingLines({ encodings, shapes }: SeenValues, noun: string): string[] {
  return encodings.flatMap((names, place) => {
    if (names.size === 0) return [];
    const advice =
      shapes[place]!.examples > 0
        ? 'as tools send plain JSON, check that your worker decodes it'
        : 'its type is unknown, and tools send plain JSON';
    const which = encodings.length > 1 ? `${noun} ${place + 1}` : noun;
    return [`${which} is encoded as ${[...names].join(', ')}: ${advice}.`];
  });
}

/** Signals or updates of histories, with the types of their arguments. */
function messageLines(kind: string, messages: Map<string, SeenValues>): string[] {
  const shown = [...messages].map(([name, seen]) => `${name}(${argumentsText(seen)})`);
  return shown.length === 0 ? [] : [`${kind} in histories: ${shown.join(', ')}.`];
}

function argumentsText({ shapes, encodings, least }: SeenValues): string {
  return shapes
    .map((shape, place) => {
      const text = shape.examples > 0 ? shapeText(shape) : [...encodings[place]!].join(' or ');
      return place < least ? text : `${text}?`;
    })
    .join(', ');
}

/** Heartbeats that were seen, and activities that have a time-out for them. */
function heartbeatLines({ heartbeats, beating }: Observed): string[] {
  const seen = [...heartbeats].map(([activity, values]) => `${activity}(${argumentsText(values)})`);
  const unseen = [...beating].filter((activity) => !heartbeats.has(activity));
  return [
    ...(seen.length > 0 ? [`Heartbeats: ${seen.join(', ')}.`] : []),
    ...(unseen.length > 0
      ? [
          `Activities with a heartbeat time-out: ${unseen.join(', ')}. Histories don't hold their heartbeats; an open run shows them, ` +
            'and `progress: { heartbeats: true, map: ... }` reads them.',
        ]
      : []),
  ];
}

function definedLines({ definitions }: Observed): string[] {
  if (definitions === undefined)
    return [
      'Queries are unknown: histories hold none. longhaul discover --query asks a worker for them, if a run is open.',
    ];
  const linesOf = (kind: string, all: Definition[]) =>
    all.length === 0
      ? []
      : [
          `${kind} that the worker defines:`,
          ...all.map(({ name, description }) => `  ${name}${description === '' ? '' : `: ${description}`}`),
        ];
  return [
    ...linesOf('Queries', definitions.queries),
    ...linesOf('Signals', definitions.signals),
    ...linesOf('Updates', definitions.updates),
  ];
}

function headerOf(
  name: string,
  { type, infos, observed }: Found,
  { namespace, since, now, isLimited }: Source,
): string[] {
  const counts = Object.entries(statusCounts(infos)).map(([status, count]) => `${count} ${status}`);
  const children = infos.filter(({ parentExecution }) => parentExecution?.workflowId).length;
  return [
    `Draft of the tool ${name}, made on ${day(now)} by longhaul discover from runs of the workflow type ${type}.`,
    `Runs in the namespace ${namespace} since ${day(new Date(since))}${isLimited ? ', the latest alone' : ''}: ${counts.join(', ')}; ` +
      `histories read: ${observed.histories}.`,
    ...(children > 0 ? [`Child workflows of others among them: ${children}.`] : []),
    'It has names and types of these runs, and none of their values. Look at the description, the names of arguments, what is ' +
      'required, and the time-out; add descriptions to inputs. Then: longhaul check',
  ];
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}
