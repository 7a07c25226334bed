/** The demo: one diff, reviewed twice by a lead and three children. In the second review a child and the worker are killed. */
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { startTeam } from './agents/team.js';
import { makeRepository, git } from './sample/repository.js';

const run = promisify(execFile);
const REVIEWERS = ['reviewer-1', 'reviewer-2', 'reviewer-3'];

const { folder, diff } = await makeRepository('output');
console.log('The change:\n' + (await git(folder, 'diff', '--stat', 'HEAD~1', 'HEAD')));

// The stack starts with the first call, and runs until longhaul down, also after Ctrl-C.
process.once('exit', () => spawnSync('longhaul', ['down'], { stdio: 'ignore' }));
process.once('SIGINT', () => process.exit(130));
await run('longhaul', ['call', '--up', '--json', 'review_diff', '--folder', folder, '--diff', diff]);
const { mcpUrl, workerPid } = JSON.parse(readFileSync('.longhaul/stack.json', 'utf8'));
const review = async (name: string, onLine: (line: string, kill: (name: string) => void) => void) => {
  const settings = { reviewers: REVIEWERS, checkAll: true, leaseSeconds: 20, patienceSeconds: 60 };
  const team = startTeam(mcpUrl, { review: name, folder, diff, maxFiles: 5, ...settings }, (line) => {
    console.log(`  ${line}`);
    onLine(line, (child) => team.reviewers.get(child)!.kill('SIGKILL'));
  });
  const { code, review: text } = await team.finished;
  if (code !== 0) throw new Error(`the review ended with ${code}: ${text}`);
  return text;
};
const id = Date.now();
console.log('A calm review:');
const calm = await review(`calm-${id}`, () => undefined);
console.log(`\n${calm}\nThe same, with kill -9 of a child and of the worker:`);
const rough = await review(`rough-${id}`, (line, kill) => {
  const [, child] = /^types: (\S+) started/.exec(line) ?? [];
  if (!child) return;
  kill(child);
  process.kill(workerPid, 'SIGKILL');
  console.log(`  (killed ${child}, and the worker)`);
});
console.log(`\nThe review is ${rough === calm ? 'the same' : `another one:\n${rough}`}.`);
process.exitCode = rough === calm ? 0 : 1;
