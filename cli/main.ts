#!/usr/bin/env node
/**
 * The program's entry: loads the command line, unless this Node.js is too old for it. This file runs on any Node.js that
 * supports modules.
 */
import { nodeProblem } from '../platform/node-version.js';

const problem = nodeProblem();
if (problem === undefined) void import('./longhaul.js');
else {
  process.stderr.write(`longhaul: ${problem}\n`);
  process.exitCode = 1;
}
