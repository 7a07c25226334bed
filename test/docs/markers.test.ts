/** Every command block is run, or its marker says why not, or which test runs it. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { blocksOf, isCommands, PAGES } from './blocks.js';

test.each(PAGES)('%s: markers stand before commands, and have a reason or a test', (page) => {
  for (const block of blocksOf(page)) {
    const { line, marker } = block;
    if (!marker) continue;
    expect([line, isCommands(block) || block.language === '']).toEqual([line, true]);
    if (marker.kind === 'not run') expect([line, marker.text.length > 10]).toEqual([line, true]);
    else {
      const [, file = '', text = ''] = /^(\S+): (.+)$/.exec(marker.text) ?? [];
      expect([line, existsSync(file) && readFileSync(file, 'utf8').includes(text)]).toEqual([line, true]);
    }
  }
});
