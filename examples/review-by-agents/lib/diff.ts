/** Reads unified diffs, as `git diff` and `diff -u` write them. */
import type { ChangedFile } from './review.js';

export class DiffError extends Error {}

export interface ParsedFile extends ChangedFile {
  /** Line of the diff where it begins, from 1. */
  at: number;
  /** Added lines by number, to compare them with the folder. */
  lines: Map<number, string>;
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** @throws DiffError that names the line */
export function parseDiff(text: string): ParsedFile[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const files: ParsedFile[] = [];
  let file: ParsedFile | undefined;
  const begin = (path: string, at: number) =>
    files.push(
      (file = { path, status: 'modified', isBinary: false, added: [], at: at + 1, lines: new Map() }),
    );
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    const fail = (why: string) => new DiffError(`line ${at + 1} of the diff: ${why}`);
    if (line.startsWith('diff --git ')) {
      begin(pathOfHeader(line) ?? '', at);
    } else if (line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ ')) {
      const [before, after] = [pathOf(line.slice(4)), pathOf(lines[at + 1]!.slice(4))];
      if (!file || file.lines.size > 0 || !lines[at - 1] || isWithoutGit(lines, at)) begin('', at);
      file!.path = after ?? before ?? '';
      if (after === undefined) file!.status = 'deleted';
      if (before === undefined) file!.status = 'added';
      at += 1;
    } else if (line.startsWith('@@')) {
      if (!file) throw fail('a hunk before any file');
      at = readHunk(lines, at, file, fail);
    } else if (file) {
      if (line.startsWith('new file mode ')) file.status = 'added';
      else if (line.startsWith('deleted file mode ')) file.status = 'deleted';
      else if (line.startsWith('rename to ')) file.path = unquote(line.slice('rename to '.length));
      else if (line.startsWith('GIT binary patch') || /^Binary files .* differ$/.test(line))
        file.isBinary = true;
      else if (/^[-+]/.test(line) && !file.isBinary) throw fail(`a changed line outside of a hunk`);
    }
  }
  if (files.length === 0 && text.trim() !== '')
    throw new DiffError('it has no file, so it is no unified diff');
  const nameless = files.find(({ path }) => path === '');
  if (nameless) throw new DiffError(`line ${nameless.at} of the diff: a file without a name`);
  return files;
}

/** Reads one hunk. @returns the index of its last line */
function readHunk(lines: string[], at: number, file: ParsedFile, fail: (why: string) => Error): number {
  const header = HUNK.exec(lines[at]!);
  if (!header) throw fail(`no header of a hunk: ${lines[at]!.slice(0, 60)}`);
  let before = Number(header[1] ?? 1);
  let after = Number(header[3] ?? 1);
  let number = Number(header[2]);
  let index = at;
  while (before > 0 || after > 0) {
    index += 1;
    const line = lines[index];
    if (line === undefined) throw fail('the hunk that begins here ends too early');
    const kind = line[0] ?? ' ';
    if (!' +-\\'.includes(kind)) throw fail(`the hunk that begins here has the line ${line.slice(0, 60)}`);
    if (kind === '\\') continue;
    if (kind === '+') {
      file.lines.set(number, line.slice(1));
      const last = file.added.at(-1);
      if (last?.[1] === number - 1) last[1] = number;
      else file.added.push([number, number]);
    }
    if (kind !== '-') {
      number += 1;
      after -= 1;
    }
    if (kind !== '+') before -= 1;
  }
  if (before < 0 || after < 0) throw fail('the hunk that begins here has more lines than its header says');
  return index;
}

/** Whether the file's header is that of `diff -u`, without a line of git before it. */
function isWithoutGit(lines: string[], at: number): boolean {
  for (let index = at - 1; index >= 0 && index > at - 8; index -= 1)
    if (lines[index]!.startsWith('diff --git ')) return false;
  return true;
}

/** `diff --git a/PATH b/PATH`: the path is the same in both unless it was renamed, which has lines of its own. */
function pathOfHeader(line: string): string | undefined {
  const rest = line.slice('diff --git '.length);
  if (rest.startsWith('"')) return unquote(rest.slice(rest.lastIndexOf(' "') + 1)).replace(/^b\//, '');
  return /^a\/(.*) b\/\1$/.exec(rest)?.[1];
}

/** @returns undefined for /dev/null */
function pathOf(text: string): string | undefined {
  const path = unquote(text.replace(/\t.*$/, ''));
  return path === '/dev/null' ? undefined : path.replace(/^[ab]\//, '');
}

/** Git quotes paths that have quotes, backslashes, control characters or, by default, bytes beyond ASCII. */
function unquote(text: string): string {
  if (!text.startsWith('"')) return text;
  const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', '"': '"', '\\': '\\' };
  const inside = text.slice(1, -1).replace(/\\([0-7]{3}|.)/g, (_all, code: string) => {
    return code.length === 3 ? String.fromCharCode(parseInt(code, 8)) : (escapes[code] ?? code);
  });
  return /[\u0080-\u00ff]/.test(inside) ? Buffer.from(inside, 'latin1').toString('utf8') : inside;
}
