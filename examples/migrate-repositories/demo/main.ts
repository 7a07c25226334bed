/** Migrates three repositories that it makes, by the command line, as a person or a script does. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { makeRepositories } from './repositories.js';

const FOLDER = 'demo-repositories';
const paths = makeRepositories(FOLDER);

/** Shows a command and runs it. @returns its output */
function show(program: string, ...args: string[]): string {
  console.log(`\n$ ${[program, ...args].join(' ')}`);
  const { status, stdout } = spawnSync(program, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = stdout.trim();
  if (output) console.log(output);
  // It has said why.
  if (status !== 0) process.exit(1);
  return output;
}

process.once('exit', () => spawnSync('longhaul', ['down'], { stdio: 'ignore' }));
process.once('SIGINT', () => process.exit(130));

const repositories = paths.flatMap((path) => ['--repositories', path]);
const token = show('longhaul', 'call', '--up', 'migrate_repositories', ...repositories, '--detach');
console.log(`\n$ longhaul watch ${token}`);
// Without a terminal, it prints questions and waits for somebody else's answer.
const watch = spawn('longhaul', ['watch', token], { stdio: ['ignore', 'inherit', 'pipe'] });
const ended = once(watch, 'close');
let isAnswered = false;
for await (const line of createInterface({ input: watch.stderr })) {
  // Lines of progress depend on the machine.
  if (!line.startsWith('working')) console.log(line);
  if (isAnswered || !line.trim().startsWith('decline:')) continue;
  isAnswered = true;
  show('longhaul', 'answer', token, '--field', 'commit=orders-api');
}
await ended;
for (const path of paths) show('git', '-C', path, 'log', '--oneline', '--decorate', '--all');
show('longhaul', 'get', token, 'orders-api.diff');
show('longhaul', 'down');
