#!/usr/bin/env node
/**
 * The program's entry, which runs on any Node.js with modules and reports one that is too old. Answers `longhaul --version`
 * itself, because scripts and package managers ask often.
 */
import nodeModule from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { say, print } from './console.js';
import { longhaulPackage, nodeProblem } from '../platform/home/package.js';

// A closed terminal doesn't end the program. Most commands use exitWhenOutputCloses.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

/** Caches V8's code of this program's modules between starts, with Node.js 22.1 and newer. */
function enableCompileCache(): void {
  const { enableCompileCache: enable } = nodeModule as { enableCompileCache?: (folder: string) => unknown };
  // Avoids the default in the folder of temporary files, where other users can write.
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  enable?.(join(cache, 'longhaul', 'compiled'));
}

const problem = nodeProblem();
if (problem !== undefined) {
  say(`longhaul: ${problem}`);
  process.exitCode = 1;
} else if (process.argv[2] === '--version' || process.argv[2] === '-V') print(longhaulPackage().version);
else {
  enableCompileCache();
  void import('./longhaul.js');
}
