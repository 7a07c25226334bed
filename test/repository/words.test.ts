import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

/** Runs the check over these files, in a folder that git does not ignore. */
function check(files: Record<string, string>): { status: number | null; output: string } {
  const folder = mkdtempSync('test/repository/words-');
  try {
    for (const [name, source] of Object.entries(files)) writeFileSync(join(folder, name), source);
    const run = spawnSync(process.execPath, ['test/words.js', folder], { encoding: 'utf8' });
    return { status: run.status, output: `${run.stdout}${run.stderr}`.replaceAll(`${folder}/`, '') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('names file, line, word and a better word in comments, messages and documents', () => {
  const { status, output } = check({
    'comment.ts': '// Waits.\n/**\n * What is left, and tells it.\n */\n',
    'message.ts': "throw new Error('the file is to be mended');\n",
    'template.ts': 'export const text = `${name} goes on with ${name}`;\n',
    'document.md': '# What ends\n\nOf a job:\n\n```\ntold anew\n```\n',
  });
  expect(status).toBe(1);
  for (const expected of [
    'comment.ts:3: "What"; better: name',
    'comment.ts:3: "tells"; better: report',
    'message.ts:1: "mended"; better: fix',
    'template.ts:1: "goes on"; better: continue',
    'document.md:3: "Of"; better: begin',
    '4 files checked for words, 5 hits',
  ])
    expect(output).toContain(expected);
});

test('leaves names in code and other meanings alone', () => {
  const { status, output } = check({
    'names.ts': '// The field `told`.\nexport const told = "told";\n',
    'meanings.ts':
      '// The load goes on the queue. A shell runs it; there is none. In the face of errors it retries.\n',
  });
  expect([status, output]).toEqual([0, '2 files checked for words, 0 hits\n']);
});

test('fails when it finds no file', () => {
  const { status } = spawnSync(process.execPath, ['test/words.js', 'test/repository/no-such-folder']);
  expect(status).toBe(1);
});
