/** TypeScript's compiler over the project of the change. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { isInside } from './folder.js';
import { isAdded, type ChangedFile, type Finding } from './review.js';

export const isTyped = (path: string): boolean => /\.[cm]?tsx?$/.test(path);

/**
 * Diagnostics of the changed files in lines that the change adds, and errors anywhere in the project: a change may break code
 * that it doesn't touch.
 *
 * @param folder real path
 * @param onFile called after each changed file
 */
export async function checkTypes(
  folder: string,
  files: readonly ChangedFile[],
  onFile: (path: string) => void,
): Promise<Finding[]> {
  const { rootNames, options } = projectOf(folder, files);
  const program = ts.createProgram({ rootNames, options });
  const changed = new Map(files.map((file) => [file.path, file]));
  const findings: Finding[] = [];
  for (const source of program.getSourceFiles()) {
    if (program.isSourceFileDefaultLibrary(source) || program.isSourceFileFromExternalLibrary(source))
      continue;
    if (!isInside(folder, source.fileName)) continue;
    const path = relative(folder, source.fileName);
    const file = changed.get(path);
    const syntactic = program.getSyntacticDiagnostics(source);
    // Meaning found in a file that doesn't parse is noise.
    const found = syntactic.length > 0 ? syntactic : program.getSemanticDiagnostics(source);
    for (const { start = 0, category, code, messageText } of found) {
      const line = source.getLineAndCharacterOfPosition(start).line + 1;
      const isError = category === ts.DiagnosticCategory.Error && code !== UNUSED;
      if (!isError && !(file && isAdded(file, line))) continue;
      findings.push({
        file: path,
        line,
        severity: isError ? 'error' : 'warning',
        rule: `TS${code}`,
        message: ts.flattenDiagnosticMessageText(messageText, ' '),
        by: ['types'],
      });
    }
    if (file) onFile(path);
    // Heartbeats and other work of this worker get their turn.
    await new Promise(setImmediate);
  }
  return findings;
}

/** An unused variable is an error by the option that reports it, and no more than a warning in a review. */
const UNUSED = 6133;

function projectOf(folder: string, files: readonly ChangedFile[]) {
  const path = join(folder, 'tsconfig.json');
  const rootNames = files.map((file) => join(folder, file.path));
  const always = { noEmit: true, skipLibCheck: true, incremental: false, composite: false };
  if (!existsSync(path)) return { rootNames, options: { strict: true, ...always } };
  const { config } = ts.readConfigFile(path, ts.sys.readFile);
  const parsed = ts.parseJsonConfigFileContent(config ?? {}, ts.sys, folder, always);
  const own = parsed.fileNames.filter((name) => isInside(folder, name));
  return { rootNames: own, options: { ...parsed.options, ...always } };
}
