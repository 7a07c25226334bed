/** Rebuilds the programs of a copy of `dist/` whose modules a test has changed. */
import { resolve } from 'node:path';
import { runTool } from './run-tool.js';

/** @param folder holds `dist/`, and `node_modules` or a link to it */
export async function buildProgram(folder: string): Promise<void> {
  await runTool(process.execPath, [resolve('build-program.js')], folder);
}
