#!/usr/bin/env node
/**
 * The program's entry: loads the command line, unless this Node.js is too old for it. Written for every Node.js that has
 * modules; the rest and its dependencies are not.
 */
import { nodeProblem } from '../platform/node-version.js';

const problem = nodeProblem();
if (problem === undefined) void import('./longhaul.js');
else {
  process.stderr.write(`longhaul: ${problem}\n`);
  process.exitCode = 1;
}
