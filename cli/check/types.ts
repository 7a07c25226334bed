/** Checks a project's types with its own TypeScript. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import type { ProjectProblem } from '../../platform/project-problems.js';

export interface CheckedTypes {
  isChecked: boolean;
  /** Version of TypeScript, or why types weren't checked. */
  detail: string;
  problems: ProjectProblem[];
}

/** Limit for reading compiler output. */
const OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024;

/** @param project folder with `tsconfig.json`, and TypeScript in its `node_modules` or an ancestor's */
export async function checkTypes(project: string): Promise<CheckedTypes> {
  const notChecked = (detail: string): CheckedTypes => ({ isChecked: false, detail, problems: [] });
  const config = join(project, 'tsconfig.json');
  if (!existsSync(config)) return notChecked(`there is no ${config}`);
  let manifest: string;
  try {
    manifest = createRequire(join(project, 'package.json')).resolve('typescript/package.json');
  } catch {
    return notChecked(
      `TypeScript isn't installed in ${project}; run npm install --save-dev typescript @types/node`,
    );
  }
  const { version, bin } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    version: string;
    bin: { tsc: string };
  };
  const { code, output } = await run(join(dirname(manifest), bin.tsc), project, config);
  const problems = problemsIn(output, project);
  // The compiler failed without naming a file, e.g. out of memory.
  if (code !== 0 && problems.length === 0)
    problems.push({ path: config, message: output.trim().split('\n').slice(0, 5).join(' ') || 'tsc failed' });
  return { isChecked: true, detail: `TypeScript ${version}`, problems };
}

function run(tsc: string, project: string, config: string): Promise<{ code: number; output: string }> {
  const args = [tsc, '--noEmit', '--pretty', 'false', '--project', config];
  const options = { cwd: project, maxBuffer: OUTPUT_LIMIT_BYTES };
  return new Promise((settle) => {
    execFile(process.execPath, args, options, (error, stdout, stderr) =>
      settle({ code: error ? 1 : 0, output: stdout + stderr }),
    );
  });
}

/** Parses `tools/x.ts(3,7): error TS2322: ...`, and problems of the configuration, which have no position. */
function problemsIn(output: string, project: string): ProjectProblem[] {
  return [...output.matchAll(/^(?:(.+)\((\d+),(\d+)\): )?error (TS\d+: .+)$/gm)].map(
    ([, file, line, column, message]) => ({
      path: resolve(project, file ?? 'tsconfig.json'),
      ...(file ? { line: Number(line), column: Number(column) } : {}),
      message: message!,
    }),
  );
}
