/**
 * `npm run lint`: words that comments, documents and messages don't use, each with a better one.
 *
 * `node test/words.js` checks what HELD lists. `node test/words.js PATH...` lists the hits in these folders and files instead,
 * and `node test/words.js --count` counts those of the whole repository by folder.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import tseslint from 'typescript-eslint';

/** Folders and files that the check holds over. */
export const HELD = [
  '.github',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'README.md',
  'SECURITY.md',
  'activities',
  'bench',
  'cli',
  'docs',
  'engine',
  'examples',
  'mailbox',
  'mcp-server',
  'operations',
  'pipelines',
  'platform',
  'stack',
  'test',
  'testing',
  'tools',
  'worker',
  'workflows',
];

/** These files quote the words. */
const QUOTES = ['test/words.js', 'test/repository/words.test.ts'];

/** First words of a comment, paragraph or list item. */
const OPENINGS = [
  [/^What\b/, 'name the thing itself: "Columns that ..." for "What ..."'],
  [/^Of\b(?! course)/, 'begin with the subject: "For an unknown job: ..."'],
  [/^Whose\b/, 'begin with the noun: "Owner of ..."'],
  [/^Said\b/, 'begin with the verb in the present tense'],
];
const COMMENT_OPENINGS = [...OPENINGS, [/^Never\b/, 'say what is done instead, or "Does not ..."']];

const ANYWHERE = [
  [/\b(tell|tells|told|telling)\b/i, 'report, say, show, notify; for "tell apart": distinguish'],
  [/\banew\b/i, 'again, or new'],
  [/\bmend(s|ed|ing)?\b/i, 'fix'],
  [
    /\b(go|goes|going|went|gone) on\b(?! (the|a|an|its|their|his|each|every|this|that|these|those|top|one|another)\b)/i,
    'continue, resume',
  ],
  [/(?<!\bthere )\b(is|are|was|were) none\b(?! of\b)/i, 'there is no ..., does not exist, is missing'],
  [/\bno word\b(?! (boundary|boundaries)\b)/i, 'no message, not mentioned'],
  [/\bwhose way\b/i, 'name the thing and say what it does'],
  [
    /\b(a|one|each|every|either|other|older|newer|this|that|which|own|its|(?<!in )the) faces?\b(?! value)/i,
    'protocol',
  ],
  [/\beras?\b/i, 'revision'],
  [/\b(Longhaul's|start|memo) marker\b/i, 'start memo'],
  [/\bchores?\b/i, 'background tasks'],
  [/\bpatience\b/i, 'time limit, reconnect policy'],
  [/\bsurroundings\b/i, 'context'],
  [/\bamiss\b/i, 'wrong, missing'],
  [/\bnews\b/i, 'notification, change'],
  [/\b((agent('s)?|this|that|one|new|old) life|(agents'|earlier|former) lives)\b/i, 'session'],
  [/\bwhoever\b/i, 'anyone who, the client that'],
];

/** @returns {{ line: number, word: string, better: string }[]} */
export function hitsIn(path, source) {
  const passages = path.endsWith('.md') ? passagesOfMarkdown(source) : passagesOfCode(source);
  return passages.flatMap(({ line, text, openings }) => {
    const lines = withoutCode(text).split('\n');
    const first = lines.findIndex((each) => /\w/.test(each));
    return lines.flatMap((each, index) => [
      ...(index === first ? openings : []).flatMap(([pattern, better]) =>
        hit(line + index, each.trimStart(), pattern, better),
      ),
      ...ANYWHERE.flatMap(([pattern, better]) => hit(line + index, each, pattern, better)),
    ]);
  });
}

function hit(line, text, pattern, better) {
  const [word] = pattern.exec(text) ?? [];
  return word === undefined ? [] : [{ line, word, better }];
}

/** Comments, and the strings that read as sentences: those with a space. */
function passagesOfCode(source) {
  const { ast } = tseslint.parser.parseForESLint(source, { comment: true, tokens: true, loc: true });
  const comments = [];
  for (const { type, value, loc } of ast.comments) {
    const text = value.replace(/^[ \t]*\*+/gm, '').replace(/^ /, '');
    const last = comments.at(-1);
    const continues = type === 'Line' && last?.type === 'Line' && last.end === loc.start.line - 1;
    if (continues) Object.assign(last, { text: `${last.text}\n${text}`, end: loc.end.line });
    else comments.push({ type, line: loc.start.line, end: loc.end.line, text, openings: COMMENT_OPENINGS });
  }
  const strings = ast.tokens
    .filter(({ type, value }) => (type === 'String' || type === 'Template') && /\S\s+\S/.test(value))
    .map(({ value, loc }) => ({ line: loc.start.line, text: value, openings: [] }));
  return [...comments, ...strings];
}

/** Paragraphs, list items and lines of tables; no headings' openings, and no code. */
function passagesOfMarkdown(source) {
  const passages = [];
  let isCode = false;
  let isNew = true;
  source.split('\n').forEach((text, index) => {
    if (/^\s*(```|~~~)/.test(text)) isCode = !isCode;
    else if (!isCode) {
      const item = /^\s*([-*]|\d+\.|\|) +/.exec(text)?.[0];
      const opens = (isNew || item !== undefined) && !text.startsWith('#') && !/\?\s*$/.test(text);
      passages.push({
        line: index + 1,
        text: text.slice(item?.length ?? 0).replace(/\]\([^)]*\)/g, ']'),
        openings: opens ? OPENINGS : [],
      });
    }
    isNew = text.trim() === '' || text.startsWith('#');
  });
  return passages;
}

/** Names of code stand in backticks. */
function withoutCode(text) {
  return text.startsWith('`') ? text : text.replace(/`[^`\n]*`/g, '``');
}

function filesIn(paths) {
  return execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...paths], {
    encoding: 'utf8',
  })
    .split('\n')
    .filter((path) => /\.(ts|js|cjs|mjs|md)$/.test(path) && !QUOTES.includes(path));
}

function folderOf(path) {
  const [top, second] = path.split('/');
  return second === undefined ? '(root)' : top === 'test' || top === 'mcp-server' ? `${top}/${second}` : top;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const given = process.argv.slice(2);
  const isCount = given[0] === '--count';
  const files = filesIn(isCount ? ['.'] : given.length > 0 ? given : HELD);
  const found = files.flatMap((path) =>
    hitsIn(path, readFileSync(path, 'utf8')).map((each) => ({ path, ...each })),
  );
  if (isCount) {
    const counts = {};
    for (const { path } of found) counts[folderOf(path)] = (counts[folderOf(path)] ?? 0) + 1;
    for (const [folder, count] of Object.entries(counts))
      console.log(`${String(count).padStart(5)} ${folder}`);
  } else {
    for (const { path, line, word, better } of found)
      console.error(`${path}:${line}: "${word}"; better: ${better}`);
  }
  console.log(`${files.length} files checked for words, ${found.length} hits`);
  process.exitCode = isCount || (files.length > 0 && found.length === 0) ? 0 : 1;
}
