/** Shared by the drivers: their arguments, following next_action, and the line of JSON that each prints. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** The server's `url`; the long `tool`, its `arguments`, and the `answer` to its question; `packages` to report the versions of. */
export const given = JSON.parse(process.argv[2]);

/**
 * Drives the long tool by next_action alone.
 *
 * @param call makes a call through the framework, and gives the envelope that its model would see
 */
export async function follow(call) {
  const calls = [];
  let [tool, args] = [given.tool, given.arguments];
  for (;;) {
    calls.push(tool);
    const seen = await call(tool, args);
    const next = seen.next_action;
    if (!next) return { way: 'polling', calls, result: seen };
    // Without a tool, the same call again.
    if (next.tool)
      [tool, args] = [next.tool, next.question ? { ...next.args, content: given.answer } : next.args];
    if (!next.question) await sleep(next.check_after_seconds * 1000);
  }
}

/** @param report {protocol, tools, runs, ...} */
export function print(report) {
  const versions = Object.fromEntries(given.packages.map((name) => [name, versionOf(name)]));
  console.log(JSON.stringify({ versions, ...report }));
}

function versionOf(name) {
  const description = new URL(`node_modules/${name}/package.json`, import.meta.url);
  return JSON.parse(readFileSync(description, 'utf8')).version;
}
