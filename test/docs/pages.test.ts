/** The commands of the pages, run in the order of the page, with their outputs compared. */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { INSTALL_MS } from '../support/limits.js';
import { blocksOf, commandsIn, isCommands, PAGES } from './blocks.js';
import type { PageRun } from './page-run.js';
import { OPENERS } from './pages.js';

jest.setTimeout(INSTALL_MS);

const blocks = PAGES.flatMap((page) => {
  const all = blocksOf(page);
  return all.map((block, index) => ({ ...block, commands: commandsIn(block, all[index + 1]) }));
}).filter(isCommands);
const toRun = blocks.filter(({ marker }) => marker === undefined);

describe.each([...new Set(toRun.map(({ page }) => page))])('%s', (page) => {
  let run: PageRun;
  beforeAll(async () => {
    run = await OPENERS[page]!();
  }, INSTALL_MS);
  afterAll(() => run?.close());

  test.each(toRun.filter((block) => block.page === page))('line $line', async ({ commands }) => {
    await run.begin(commands);
    for (const command of commands) await run.follow(command);
  });
});

/** Commands of longhaul in blocks that aren't run here, with flags of its own, not of a tool. */
const marked = blocks
  .filter(({ marker }) => marker !== undefined)
  .flatMap(({ page, commands }) => commands.map(({ command }) => ({ page, command })))
  .filter(({ command }) => /^longhaul (?!call\b).* --/.test(command));

test.each(marked)('$page: the flags of `$command` exist', ({ command }) => {
  const words = command.replace(/^longhaul /, '').split(' ');
  const name = words.slice(
    0,
    words.findIndex((word) => word.startsWith('-')),
  );
  const flags = words.filter((word) => /^--\w/.test(word));
  const program = resolve('dist/bin/longhaul.js');
  const { stdout } = spawnSync(process.execPath, [program, ...name, '--help'], { encoding: 'utf8' });
  expect(flags.filter((flag) => !stdout.includes(flag.split('=')[0]!))).toEqual([]);
});
