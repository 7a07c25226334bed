import type { Command } from 'commander';
import { checkCase, readPolicyFile } from '../../../mcp-server/auth/policy/index.js';
import { addJsonFlag, isJson, runReporting } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import { usageFailure } from '../../client/failures.js';
import { print, printJson, shortestPath } from '../../console.js';
import { settingsOf } from '../../settings-flags.js';

const HELP = `
A policy gives roles to callers: which tools they may start, and what they may do with their own operations and with those
of their tenant. A case names a caller, and what this caller can and cannot do. An edited policy takes effect within a second
or two; one that isn't valid is refused, and the one before stays in force.
`;

export function define(policy: Command): void {
  policy.addHelpText('after', HELP);
  const test = addJsonFlag(policy.command('test'))
    .description('check the cases of a policy')
    .argument('[case]', 'name of one case (default: all)')
    .option('--file <path>', 'the policy (default: that of --policy)');
  runReporting(test, async (name: string | undefined) => {
    const path = await pathOf(test);
    const file = readPolicyFile(path);
    const cases = file.cases.filter((one) => name === undefined || one.name === name);
    if (cases.length === 0) {
      const known = file.cases.map((one) => JSON.stringify(one.name)).join(', ') || 'none';
      throw usageFailure(
        name === undefined
          ? `${shortestPath(path)}: cases: expected at least one case; got none`
          : `unknown case ${JSON.stringify(name)}; known are ${known}`,
      );
    }
    const results = cases.map((one) => ({ name: one.name, problems: checkCase(file, one) }));
    const failed = results.filter(({ problems }) => problems.length > 0);
    if (isJson(test)) printJson({ ok: failed.length === 0, cases: results });
    else {
      for (const { name: title, problems } of results) {
        print(`${problems.length === 0 ? 'ok' : 'FAILED'}  ${title}`);
        for (const problem of problems) print(`  ${problem}`);
      }
      print(`${results.length - failed.length} ok, ${failed.length} failed`);
    }
    process.exitCode = failed.length === 0 ? EXIT.ok : EXIT.failed;
  });
}

async function pathOf(command: Command): Promise<string> {
  const { file } = command.opts<{ file?: string }>();
  if (file !== undefined) return file;
  const { policy } = await settingsOf(command);
  if (policy === undefined) throw usageFailure('expected --file or the setting --policy; got neither');
  return policy;
}
