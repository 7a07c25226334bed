/** Problems in files of the project, with their places. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { inspect, types } from 'node:util';
import { attempt } from '../../operations/errors.js';
import { writeFileAtomically } from '../home/atomic-files.js';
import { SettingsError, type Settings } from '../settings/index.js';
import { isProjectFile, projectCacheFile } from './index.js';

export interface ProjectProblem {
  /** Absolute path of the file. */
  path: string;
  /** From 1; undefined for a problem of the whole file. */
  line?: number;
  /** From 1, in UTF-16 code units. */
  column?: number;
  /** States what was expected, what came and what to do. */
  message: string;
}

/** An unusable file of the project. The message is one line; `problems` has all problems. */
export class ProjectError extends SettingsError {
  constructor(
    message: string,
    readonly problems: ProjectProblem[],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** `file:line:column: message`, which editors and terminals turn into links. */
export function formatProjectProblem({ path, line, column, message }: ProjectProblem): string {
  return `${[path, line, column].filter((part) => part !== undefined).join(':')}: ${message}`;
}

interface Place {
  line: number;
  column: number;
}

/** Problems of a file that threw while it was loaded. */
export function problemsOfLoad(path: string, error: unknown): ProjectProblem[] {
  const [text = ''] = (error instanceof Error ? error.message : String(error)).split('\nRequire stack:');
  const flat = text.replaceAll(/\s+/g, ' ').trim();
  const parsed = /^ParseError: .* (\/.+):(\d+):(\d+)$/.exec(flat);
  if (parsed)
    return [
      {
        path,
        ...(parsed[1] === path ? { line: Number(parsed[2]), column: Number(parsed[3]) + 1 } : {}),
        message: flat,
      },
    ];
  const frames = projectFrames(error);
  const ownFrame = frames.find((frame) => frame.path === path);
  const at = ownFrame ? { line: ownFrame.line } : {};
  // A rejected definition names fields: their lines help more than defineTool()'s.
  if (error instanceof Error && error.name === 'LonghaulError')
    return text
      .split('\n')
      .map((message) => ({ path, ...(placeOfField(path, message, ownFrame?.line) ?? at), message }));
  const request = missingRequestOf(text);
  if (request !== undefined) return [{ path, ...(placeOfText(path, request) ?? {}), message: flat }];
  const [thrown] = frames;
  const where = thrown ? ` (thrown at ${thrown.path}:${thrown.line})` : '';
  const isPlain = !(error instanceof Error) && !types.isNativeError(error);
  const message = isPlain
    ? `the file throws ${inspect(error)}, which has no line: throw an Error`
    : flat + where;
  return [{ path, ...at, message }];
}

/** Folder in which an import didn't find its file, or its nearest existing ancestor. */
export function missingPathOf(error: unknown): string | undefined {
  const message = error instanceof Error ? error.message : '';
  const request = missingRequestOf(message);
  const importer = /\nRequire stack:\s+- (.+)/.exec(message)?.[1];
  if (request === undefined || importer === undefined) return undefined;
  const isPath = /^[./]/.test(request);
  let folder = dirname(
    resolve(dirname(importer), isPath ? request : join('node_modules', request, 'package.json')),
  );
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}

function missingRequestOf(message: string): string | undefined {
  return /Cannot find (?:module|package) '([^']+)'/.exec(message)?.[1];
}

/** Stack frames within the project's code, innermost first. Columns refer to the transpiled code. */
function projectFrames(error: unknown): { path: string; line: number }[] {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  return [...stack.matchAll(/^ +at (?:.* \()?(?:file:\/\/)?(\/[^()]+):(\d+):\d+\)?$/gm)]
    .map(([, path, line]) => ({ path: path!, line: Number(line) }))
    .filter(({ path }) => isProjectFile(path));
}

/** Words in messages, with the schema call that each refers to. */
const CALLS: [RegExp, string][] = [
  [/Transforms cannot be represented/, 'transform'],
  [/Date cannot be represented/, 'date'],
];

/** Place, after a line, of the field that a definition's error names (`tool "x": estimate.per.unit: ...`). */
export function placeOfField(path: string, message: string, fromLine = 1): Place | undefined {
  const field = /^tool "[^"]*": ((?:[\w.$]|\[\d+\]|\["[^"]*"\])+):/.exec(message)?.[1];
  const source = sourceOf(path);
  if (field === undefined || source === undefined) return undefined;
  const parts = [...field.matchAll(/"([^"]*)"|[\w$]+/g)].map(([part, quoted]) => quoted ?? part);
  const keys = parts.filter((part) => !/^\d+$/.test(part));
  const call = CALLS.find(([pattern]) => pattern.test(message))?.[1];
  let offset = source.split('\n', fromLine - 1).join('\n').length;
  let found: number | undefined;
  for (const key of [...keys, ...(call ? [call] : [])]) {
    const literal = key.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const match = new RegExp(`(?<![\\w$.])(["']?)${literal}\\1\\s*[:,}(]|\\.${literal}\\(`).exec(
      source.slice(offset),
    );
    if (!match) break;
    found = offset + match.index;
    offset = found + match[0].length;
  }
  return found === undefined ? undefined : placeAt(source, found);
}

/** Place of a text's first quoted occurrence, e.g. an import's path. */
export function placeOfText(
  path: string,
  text: string,
  isMeant = (_line: string) => true,
): Place | undefined {
  const lines = sourceOf(path)?.split('\n') ?? [];
  for (const [index, line] of lines.entries()) {
    const column = Math.max(...[`'${text}'`, `"${text}"`].map((quoted) => line.indexOf(quoted)));
    if (column >= 0 && isMeant(line)) return { line: index + 1, column: column + 1 };
  }
  return undefined;
}

/** Place where a file gives a name: in quotes, or as a declaration. */
export function placeOfName(path: string, name: string): Place | undefined {
  const declared = new RegExp(`(?<=\\b(?:function\\*?|const|let|class)\\s+)${name}\\b`);
  return placeOfText(path, name) ?? placeOfMatch(path, declared);
}

/** Place of a pattern's first match. */
export function placeOfMatch(path: string, pattern: RegExp): Place | undefined {
  const source = sourceOf(path) ?? '';
  const index = source.search(pattern);
  return index < 0 ? undefined : placeAt(source, index);
}

function placeAt(source: string, offset: number): Place {
  const before = source.slice(0, offset).split('\n');
  return { line: before.length, column: before.at(-1)!.length + 1 };
}

function sourceOf(path: string): string | undefined {
  return attempt(() => readFileSync(path, 'utf8'));
}

/** Stores problems of the project's worker in the home, a line each, so that servers can show them. An empty list clears them. */
export function writeWorkerProblems(settings: Settings, problems: string[]): void {
  const path = projectCacheFile(settings, 'problems');
  mkdirSync(dirname(path), { recursive: true });
  writeFileAtomically(path, JSON.stringify(problems));
}

/** Problems of the last worker on this host; empty on a host without one. */
export function workerProblems(settings: Settings): string[] {
  const path = projectCacheFile(settings, 'problems');
  return attempt(() => JSON.parse(readFileSync(path, 'utf8')) as string[]) ?? [];
}
