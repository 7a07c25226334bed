/** Pipelines as texts, and the places of their problems. */
import { expect } from '@jest/globals';
import { parsePipeline, type Problem } from '../../pipelines/parse.js';
import type { Pipeline } from '../../pipelines/pipeline.js';

/** Problems of a text, as `line:column: message`. */
export function problemsOf(text: string, path = 'demo.yml'): string[] {
  return parsePipeline(text, path).problems.map(
    ({ line, column, message }) => `${line}:${column}: ${message}`,
  );
}

/** The pipeline of a text that has no problems. */
export function pipelineOf(text: string, path = 'demo.yml'): Pipeline {
  const { value: pipeline, problems } = parsePipeline(text, path);
  if (!pipeline) throw new Error(problems.map((problem: Problem) => JSON.stringify(problem)).join('\n'));
  return pipeline;
}

/** A text without its mark `▸`, and the line and column where that stood. */
export function marked(text: string): { text: string; place: string } {
  const offset = text.indexOf('▸');
  if (offset < 0) throw new Error(`no mark in: ${text}`);
  const before = text.slice(0, offset);
  const column = offset - (before.lastIndexOf('\n') + 1) + 1;
  return { text: text.replace('▸', ''), place: `${before.split('\n').length}:${column}` };
}

/** One job with one step, to complete the texts of tests. */
export const JOBS = 'jobs: { build: { steps: [{ run: make }] } }';

export function withStep(step: string): string {
  return `jobs:\n  build:\n    steps:\n      - ${step.replaceAll('\n', '\n        ')}\n`;
}

/**
 * Cases of a table: a text with the mark `▸` where its problem is, then `=> ` and the message, in which `...` stands for any text.
 *
 * @param table begins with a line break
 */
export function casesOf(table: string): [text: string, message: string][] {
  return [...table.matchAll(/\n((?:(?!=> ).*\n)+?)=> (.*)/g)].map(([, text, message]) => [
    text!.slice(0, -1),
    message!,
  ]);
}

/** A text in which `...` stands for any text. */
export function patternOf(words: string): RegExp {
  const parts = words.split('...').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(parts.join('.*'));
}

/** Matches a problem at this place with this message. */
const problemAt = (place: string, message: string): unknown =>
  expect.stringMatching(new RegExp(`^${place}: ${patternOf(message).source}$`));

/** The text has this problem, at its mark, and no other. */
export function only(text: string, message: string, said: (text: string) => string[] = problemsOf): void {
  const { text: plain, place } = marked(text);
  expect(said(plain)).toEqual([problemAt(place, message)]);
}

/** The text has this problem, at its mark, among others. */
export function among(text: string, message: string, said: (text: string) => string[] = problemsOf): void {
  const { text: plain, place } = marked(text);
  expect(said(plain)).toContainEqual(problemAt(place, message));
}

/** A text at the top of a file that is complete otherwise. */
export function top(text: string): string {
  return `${text}\n${JOBS}`;
}

/** `inputs` with these keys. */
export function inputs(text: string): string {
  return top(`inputs:\n  ${text.replaceAll('\n', '\n  ')}`);
}

/** A job with these keys. */
export function job(text: string): string {
  return `jobs:\n  build:\n    steps: [{ run: x }]\n    ${text.replaceAll('\n', '\n    ')}\n`;
}

/** A step with this script. */
export function script(text: string): string {
  return withStep(`run: |\n  ${text.replaceAll('\n', '\n  ')}`);
}
