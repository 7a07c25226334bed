/** Projects that `longhaul check` checks, as a process. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll } from '@jest/globals';
import { writeFiles } from '../support/write-files.js';

const root = mkdtempSync(join(tmpdir(), 'longhaul-check-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let count = 0;

export interface Checked {
  /** 137 if a signal ended it, as in a shell. */
  code: number;
  lines: string[];
  stderr: string;
}

/** Checks a project of these files; paths in what it prints are relative to the project. */
export async function check(files: Record<string, string>, ...flags: string[]): Promise<Checked> {
  const folder = join(root, String((count += 1)));
  writeFiles(folder, { 'package.json': '{"type":"module"}', ...files });
  for (const name of ['zod', '@temporalio', ...(files['tsconfig.json'] ? ['typescript'] : [])]) {
    mkdirSync(join(folder, 'node_modules'), { recursive: true });
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name));
  }
  symlinkSync(resolve('.'), join(folder, 'node_modules/longhaul'));
  const inherited = Object.entries(process.env).filter(([name]) => !/^(LONGHAUL|TEMPORAL)_/.test(name));
  const env = { ...Object.fromEntries(inherited), NODE_OPTIONS: '', LONGHAUL_HOME: join(folder, 'home') };
  return new Promise((settle) => {
    const args = [resolve('dist/bin/longhaul.js'), 'check', ...flags];
    execFile(process.execPath, args, { cwd: folder, env, timeout: 150_000 }, (error, stdout, stderr) => {
      const lines = stdout.replaceAll(`${folder}/`, '').split('\n').filter(Boolean);
      settle({ code: error ? Number(error.code ?? 137) : 0, lines, stderr });
    });
  });
}

export const tool = (name: string, options = "input: { type: 'object', properties: {} }") => `
import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: '${name}',
  description: { does: 'Does it.' },
  estimate: { seconds: 1 },
  ${options},
});
void z;
`;
export const workflow = (name: string) => `export async function ${name}() { return {}; }\n`;
