/** The code blocks of the pages whose commands are run. */
import { readFileSync } from 'node:fs';

export const PAGES = [
  'README.md',
  ...['running', 'operate', 'metrics', 'upgrade', 'replay', 'backup', 'pipelines', 'writing-a-tool'].map(
    (name) => `docs/${name}.md`,
  ),
  'docs/bring-your-own.md',
];

export interface Block {
  page: string;
  line: number;
  language: string;
  text: string;
  /**
   * The comment before it: `<!-- not run: REASON -->`, or `<!-- run by FILE: TEXT -->` for a test elsewhere, with a text of that file.
   */
  marker: { kind: 'not run' | 'run by'; text: string } | undefined;
}

/** A command, with the output that the page shows. */
export interface Shown {
  command: string;
  /** Undefined if the page shows none. */
  output: string[] | undefined;
}

const MARKER = /^\s*<!-- (not run|run by):? (.*) -->$/;

export function blocksOf(page: string): Block[] {
  const lines = readFileSync(page, 'utf8').split('\n');
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const [, indent, language] = /^( *)```(\w*)$/.exec(lines[at]!) ?? [];
    if (indent === undefined) continue;
    const end = lines.indexOf(`${indent}\`\`\``, at + 1);
    const text = lines.slice(at + 1, end).map((line) => line.slice(indent.length));
    const before = lines.slice(0, at).findLast((line) => line.trim() !== '') ?? '';
    const [, kind, about] = MARKER.exec(before) ?? [];
    blocks.push({
      ...{ page, line: at + 1, language: language!, text: text.join('\n') },
      marker: kind === undefined ? undefined : { kind: kind as 'not run' | 'run by', text: about! },
    });
    at = end;
  }
  return blocks;
}

/** Whether a reader would run it: shell commands, or what a terminal shows of some. */
export function isCommands({ language, text }: Block): boolean {
  return language === 'sh' || (language === '' && /^\$ /m.test(text));
}

/** A file that the page shows: its first line is a comment with its path. */
export function fileIn({ language, text }: Block): [path: string, text: string] | undefined {
  const [first, ...rest] = text.split('\n');
  const [, path] = (language && /^(?:#|\/\/) ([\w.-]+\/[\w./-]+|tsconfig\.json)$/.exec(first!)) || [];
  return path === undefined ? undefined : [path, `${rest.join('\n')}\n`];
}

/** The commands of a block. Output in a block of its own, right after the commands, is the last one's. */
export function commandsIn({ language, text }: Block, next: Block | undefined): Shown[] {
  if (language === '') return shownIn(text);
  const commands = text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/(^|\s+)#.*$/, '').replace(/ &$/, ''))
    .filter(Boolean)
    .map((command): Shown => ({ command, output: undefined }));
  if (next && next.language === '' && !isCommands(next) && next.marker === undefined)
    commands.at(-1)!.output = next.text.split('\n');
  return commands;
}

function shownIn(text: string): Shown[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command, ...output] = part.trimEnd().split('\n');
      return { command: command!, output: output.length > 0 ? output : undefined };
    });
}
