/** The draft of a tool over a workflow type: YAML with comments that say what it is based on, and what to check. */
import { Document, isMap, isScalar, isSeq, visit, type Node, type YAMLMap } from 'yaml';
import type { RunInfo } from '../../engine/list/current-runs.js';
import { humanDuration } from '../../operations/tool/budgets.js';
import { counted } from '../../operations/json/counted.js';
import { defined } from '../../operations/json/defined.js';
import { commentText, headerOf, type Source } from './header.js';
import { inputsFor, outputFor } from './inputs.js';
import { cancelSignalOf, heartbeatProgress, queryProgress, questionOf } from './mappings.js';
import type { Observed } from './observed.js';
import { durationsOf, estimateMinutes, taskQueues, timeoutMinutes } from './runs.js';
import { definedLines, encodingLines, heartbeatLines, messageLines } from './seen-lines.js';

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
