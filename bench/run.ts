/**
 * Runs the main benchmarks one after another, each in a process of its own, or only those that are named.
 *
 *     npm run bench [-- NAME... [OPTIONS]]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The main benchmarks, with their arguments here. */
const MAIN: Record<string, string[]> = {
  'beside-temporal': [],
  'beside-fastmcp': [],
  tokens: [],
  pushes: [],
  scale: ['--operations', '500'],
};

const given = process.argv.slice(2);
const firstOption = given.findIndex((argument) => argument.startsWith('-'));
const named = firstOption < 0 ? given : given.slice(0, firstOption);
const options = given.slice(named.length);
const names = named.length > 0 ? named : Object.keys(MAIN);
for (const name of names) {
  console.log(`\n## ${name}\n`);
  const args = named.length > 0 ? options : [...MAIN[name]!, ...options];
  const child = spawn(process.execPath, ['--import', 'jiti/register', `bench/${name}.ts`, ...args], {
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) {
    console.error(`${name}: failed`);
    process.exitCode = 1;
  }
}
