/** Reads the sources of a report, and compares each with the document itself. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** @param atLeast number of citations, of which some may have the same source */
export async function assertCitationsExist(folder: string, report: string, atLeast: number): Promise<void> {
  const block = /## Sources\n\n~~~~text\n(.*)\n~~~~/s.exec(report)?.[1] ?? '';
  const sources = [...block.matchAll(/^\[(\d+)\] (.+):(\d+)(?:-(\d+))?\n {4}(.+)$/gm)];
  assert.ok(
    sources.length > 0 && sources.length <= atLeast + 2,
    `${sources.length} sources, ${atLeast} citations`,
  );
  for (const [, , document, from, to, quote] of sources) {
    const lines = (await readFile(join(folder, document!), 'utf8'))
      .split('\n')
      .slice(Number(from) - 1, Number(to ?? from));
    const there = lines.join(' ').replace(/\s+/g, ' ');
    assert.ok(there.includes(quote!), `${document}:${from} has "${quote}"`);
  }
  const marks = new Set(
    [...report.split('## Sources')[0]!.matchAll(/(?<!\\)\[(\d+)\]/g)].map(([, number]) => number),
  );
  assert.deepEqual(marks.size, sources.length);
}
