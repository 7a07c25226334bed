/**
 * `npm run size`: how large the project is, its limits (test/size-limits.json), and what changed since a commit. Fails beyond a limit.
 *
 * Argument: the commit. Default: that of the last whole run of the tests
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { COMMANDS } from '../cli/command-table.js';
import { SETTINGS } from '../platform/settings/table.js';

type Figure = 'lines' | 'code' | 'comments' | 'files' | 'loose files' | 'lines of tests';
type Fact = 'settings' | 'commands' | 'lines of --help' | 'dependencies';

const NO_ROOMS = /^(test|bench|examples|docs|deploy)\//;
const SOURCE = /\.(ts|js|sh)$/;

const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 28 });

/** Text of each source file: of a commit, or of the working folder. */
function sources(commit?: string): Map<string, string> {
  const listed = commit
    ? git('ls-tree', '-r', '--name-only', commit)
    : git('ls-files', '--cached', '--others', '--exclude-standard');
  const paths = listed.split('\n').filter((path) => SOURCE.test(path));
  const textOf = (path: string) => {
    try {
      return commit ? git('show', `${commit}:${path}`) : readFileSync(path, 'utf8');
    } catch {
      return ''; // Deleted, and not yet committed.
    }
  };
  return new Map(paths.map((path) => [path, textOf(path)]));
}

/** Kinds of a file's lines. */
function linesOf(text: string): { code: number; comments: number; blank: number } {
  const counts = { code: 0, comments: 0, blank: 0 };
  let isInComment = false;
  for (const line of text.split('\n').slice(0, -1)) {
    const words = line.trim();
    if (words.startsWith('/*')) isInComment = true;
    if (words === '') counts.blank += 1;
    else if (isInComment || words.startsWith('//')) counts.comments += 1;
    else counts.code += 1;
    if (words.endsWith('*/')) isInComment = false;
  }
  return counts;
}

function measure(files: Map<string, string>): Record<Figure, number> {
  const figures = { lines: 0, code: 0, comments: 0, files: 0, 'loose files': 0, 'lines of tests': 0 };
  const loose = new Map<string, number>();
  for (const [path, text] of files) {
    if (text === '') continue;
    const { code, comments, blank } = linesOf(text);
    if (path.startsWith('test/')) figures['lines of tests'] += code + comments + blank;
    if (NO_ROOMS.test(path) || !path.includes('/')) continue;
    figures.code += code;
    figures.comments += comments;
    figures.lines += code + comments + blank;
    figures.files += 1;
    loose.set(dirname(path), (loose.get(dirname(path)) ?? 0) + 1);
  }
  figures['loose files'] = Math.max(...loose.values());
  return figures;
}

function facts(): Record<Fact, number> {
  const help = execFileSync(process.execPath, ['dist/bin/longhaul.js', '--help'], { encoding: 'utf8' });
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: object };
  return {
    settings: Object.keys(SETTINGS).length,
    commands: COMMANDS.length,
    'lines of --help': help.trimEnd().split('\n').length,
    dependencies: Object.keys(dependencies).length,
  };
}

const limits = JSON.parse(readFileSync('test/size-limits.json', 'utf8')) as Record<Figure | Fact, number>;
const record = JSON.parse(readFileSync('test/last-full-run.json', 'utf8')) as { commit: string };
const since = process.argv[2] ?? record.commit;
const now: Record<string, number> = { ...measure(sources()), ...facts() };
const before: Record<string, number> = measure(sources(since));
const signed = (difference: number) => (difference > 0 ? `+${difference}` : String(difference));
const over = Object.entries(limits).filter(([name, limit]) => now[name]! > limit);

console.log(`${'since'.padStart(60)} ${since.slice(0, 8)}`);
for (const [name, limit] of Object.entries(limits)) {
  const change = before[name] === undefined ? '' : signed(now[name]! - before[name]);
  console.log(
    `${name.padEnd(20)} ${String(now[name]).padStart(8)}   at most ${String(limit).padEnd(8)} ${change.padStart(16)}`,
  );
}
for (const [name, limit] of over) console.error(`${name}: expected at most ${limit}; got ${now[name]}`);
process.exitCode = over.length > 0 ? 1 : 0;
