/** The draft of a tool over a workflow type: YAML with comments that say what it is based on, and what to check. */
import { Document, isMap, isScalar, isSeq, visit, type Node, type YAMLMap } from 'yaml';
import type { RunInfo } from '../../engine/list/current-runs.js';
import { humanDuration } from '../../operations/tool/budgets.js';
import { counted } from '../../operations/json/counted.js';
import { defined } from '../../operations/json/defined.js';
import { inputsFor, outputFor } from './inputs.js';
import { cancelSignalOf, heartbeatProgress, queryProgress, questionOf } from './mappings.js';
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

/** Width of comments and of folded YAML lines. */
const WIDTH = 120;

export function draftOf(name: string, found: Found, source: Source): string {
  const { type, infos, observed } = found;
  const [queue = 'default', ...otherQueues] = taskQueues(infos);
  const { medianSeconds, longestSeconds } = durationsOf(infos, source.now.getTime());
  const inputs = observed.histories > 0 ? inputsFor(observed.inputs) : undefined;
  const hasInputs = inputs && Object.keys(inputs.properties).length > 0;
  const output = outputFor(observed.results);
  const question = questionOf(observed);
  const progress = heartbeatProgress(observed) ?? progressUnlessAsked(observed, question?.question.query);
  const content = defined({
    description: `Runs the workflow ${type}.`,
    workflow: defined({ type, 'task-queue': queue, namespace: source.otherNamespace }),
    input: hasInputs
      ? defined({
          properties: inputs.properties,
          required: inputs.required.length > 0 ? inputs.required : undefined,
        })
      : undefined,
    args: inputs?.args,
    output: output === 'mixed' ? undefined : output,
    'estimate-minutes': medianSeconds === undefined ? undefined : estimateMinutes(medianSeconds),
    'timeout-minutes': timeoutMinutes(observed.timeoutsSeconds, longestSeconds, question !== undefined),
    progress: progress?.progress,
    question: question?.isSeen ? question.question : undefined,
  });
  const document = new Document(content, { aliasDuplicateObjects: false });
  document.commentBefore = asComment(headerOf(name, found, source));
  const root = document.contents as unknown as YAMLMap;
  const say = (key: string, ...lines: string[]) => commentOn(root, key, lines);
  say('description', 'What it does, for people and models; `use-when` says when a model should choose it.');
  if (otherQueues.length > 0)
    say('workflow', `Also on ${counted(otherQueues.length, 'other task queue')}: ${otherQueues.join(', ')}.`);
  say(hasInputs ? 'input' : 'args', ...inputLines(observed));
  say(
    'output',
    'Clients refuse a result that this excludes; it requires no field.',
    ...encodingLines(observed.results, 'Result'),
  );
  if (medianSeconds !== undefined) say('estimate-minutes', 'Median of the completed runs.');
  say(
    'timeout-minutes',
    observed.timeoutsSeconds.length > 0
      ? 'The longest execution time-out of the runs.'
      : `No run has an execution time-out; the longest took ${humanDuration(longestSeconds)}.${question ? ' It includes the time that people take to answer.' : ''}`,
  );
  if (progress) say('progress', `Proposed: ${progress.reason}.`);
  if (question?.isSeen) say('question', "Proposed by names: check the query's value, and `decline`.");
  layOut(document);
  const text = document.toString({ lineWidth: WIDTH });
  const rest = [
    ...(output === 'mixed' || observed.results.shapes.length === 0 ? resultLines(observed, output) : []),
    ...messageLines(observed),
    ...heartbeatLines(observed),
    ...definedLines(observed),
    ...suggestions(observed, { question, hasQuery: progress !== undefined && 'query' in progress.progress }),
  ];
  return `${text}${rest.length > 0 ? `\n${rest.flatMap(wrapped).map(commentLine).join('\n')}\n` : ''}`;
}

/** The query that is most likely progress, if the draft has none. */
function progressQueryOf(observed: Observed, questionQuery: string | undefined): string | undefined {
  const proposal = progressUnlessAsked(observed, questionQuery);
  if (proposal && 'query' in proposal.progress) return proposal.progress.query;
  const { definitions } = observed;
  if (definitions === undefined || definitions === 'none') return undefined;
  return definitions.queries.find(({ name }) => name !== questionQuery)?.name;
}

/** A query can't be both. */
function progressUnlessAsked(observed: Observed, questionQuery: string | undefined) {
  const proposal = queryProgress(observed);
  const isAsked = proposal && 'query' in proposal.progress && proposal.progress.query === questionQuery;
  return isAsked ? undefined : proposal;
}

function inputLines({ histories, inputs }: Observed): string[] {
  if (histories === 0) return ['No history could be read: the arguments are unknown.'];
  const { least, most } = inputs;
  const number = least === most ? `${counted(most, 'argument')}` : `from ${least} to ${most} arguments`;
  return [
    `Runs have ${number}. Required: those of every history that was read.`,
    ...encodingLines(inputs, 'Argument'),
  ];
}

function resultLines({ results }: Observed, output: unknown): string[] {
  if (output === 'mixed') return ['Results are objects and other values, so there is no `output`.'];
  return results.count === 0 ? ['No completed run was read, so there is no `output`.'] : [];
}

/** Keys to uncomment. */
function suggestions(
  observed: Observed,
  { question, hasQuery }: { question: ReturnType<typeof questionOf>; hasQuery: boolean },
): string[] {
  const cancel = cancelSignalOf(observed);
  const query = hasQuery ? undefined : progressQueryOf(observed, question?.question.query);
  const blocks = [
    ...(query === undefined
      ? []
      : [
          'If this query gives progress, with the fields of its value (each query is billed, and costs a worker its time):',
          ...yamlLines({ progress: { query, map: { progress: 'done', total: 'total' } } }),
        ]),
    ...(question && !question.isSeen
      ? [
          'If the workflow asks people (its answers are guesses):',
          ...yamlLines({ question: question.question }),
        ]
      : []),
    ...(cancel === undefined
      ? []
      : ['If this signal cancels the work:', ...yamlLines({ cancel: { signal: cancel } })]),
    'To let operators adopt runs that others have started:',
    ...yamlLines({ adopt: true }),
  ];
  return ['', ...blocks];
}

function yamlLines(value: object): string[] {
  const document = new Document(value, { aliasDuplicateObjects: false });
  layOut(document);
  return document.toString({ lineWidth: 0 }).trimEnd().split('\n');
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

function commentOn(root: YAMLMap, key: string, lines: string[]): void {
  const pair = root.items.find(({ key: one }) => isScalar(one) && one.value === key);
  if (!pair || !isScalar(pair.key) || lines.length === 0) return;
  pair.key.commentBefore = asComment(lines);
  // The header is followed by a blank line anyway.
  if (pair !== root.items[0]) pair.key.spaceBefore = true;
}

function asComment(lines: string[]): string {
  return lines
    .flatMap(wrapped)
    .map((line) => ` ${line}`.trimEnd())
    .join('\n');
}

function commentLine(line: string): string {
  return `# ${line}`.trimEnd();
}

/** Lines of at most {@link WIDTH} characters. A line without spaces stays whole. Indentation is YAML's. */
function wrapped(line: string): string[] {
  const text = commentText(line);
  if (text.length <= WIDTH || text.startsWith(' ')) return [text];
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1)!;
    if (last === '') lines[lines.length - 1] = word;
    else if (last.length + word.length < WIDTH) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
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

/** Signals and updates of histories, with the types of their arguments. */
function messageLines({ signals, updates }: Observed): string[] {
  const linesOf = (kind: string, messages: Map<string, SeenValues>) =>
    messages.size === 0
      ? []
      : [
          `${kind} in histories: ${[...messages].map(([name, seen]) => `${name}(${argumentsText(seen)})`).join(', ')}.`,
        ];
  return [...linesOf('Signals', signals), ...linesOf('Updates', updates)];
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
    return ['Queries are unknown: histories hold none. longhaul discover --query asks a worker for them.'];
  if (definitions === 'none')
    return ['Queries are unknown: no open run, or no worker that answers the query of its definitions.'];
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

function headerOf(
  name: string,
  { type, infos, observed }: { type: string; infos: RunInfo[]; observed: Observed },
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

/** Text for a comment. Replaces line breaks in foreign names, which would end the comment. */
function commentText(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]/g, ' ');
}
