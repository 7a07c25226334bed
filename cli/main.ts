#!/usr/bin/env node
/**
 * The program's entry: loads the command line, unless this Node.js is too old for it. This file runs on any Node.js that
 * supports modules. It answers `longhaul --version` by itself, since scripts and package managers ask often.
 */
import nodeModule from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { say, print } from './console.js';
import { nodeProblem } from '../platform/node-version.js';
import { longhaulPackage } from '../platform/package.js';

// A reader that has gone away (a closed terminal) doesn't end the program; see exitWhenOutputCloses for most commands.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

/** Keeps V8's code of this program's modules from one start to the next, with Node.js 22.1 and newer. */
function enableCompileCache(): void {
  const { enableCompileCache: enable } = nodeModule as { enableCompileCache?: (folder: string) => unknown };
  // Not the default, which is in the folder of temporary files, where other users can write.
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
