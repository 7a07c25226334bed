import { InvalidArgumentError, type Command } from 'commander';
import { SEARCH_ATTRIBUTES } from '../../../operations/wire/index.js';
import { unusableSearchAttributes } from '../../../platform/temporal/search-attributes.js';
import { addJsonFlag, isJson, wholeNumber } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import type { CheckResult } from '../../conformance/fixture.js';
import { runConformance } from '../../conformance/run.js';
import { print, printJson } from '../../console.js';
import { runOnTemporal } from '../../with-temporal.js';

const DEFAULT_LIMIT_SECONDS = 30;
const LEVELS = ['1', '2', '3', '4'];

const HELP = `
For workers in any language that give their workflows Longhaul's progress, questions and partial results. The worker registers
six small workflows, which docs/runtime-contract/README.md describes. The command starts them on the task queue, answers and
cancels them with Temporal's client alone, and prints a line for each requirement.

  TEMPORAL_ADDRESS=127.0.0.1:7233 longhaul conformance --task-queue orders

Exit code: 0 when all requirements are met, 1 when one isn't, 2 for wrong usage, 3 when Temporal can't be reached.`;

export function define(command: Command): void {
  addJsonFlag(command)
    .option('--level <number>', 'highest level to check, 1 to 4', levelNumber, 4)
    .option('--timeout-seconds <number>', 'longest wait for a change', wholeNumber, DEFAULT_LIMIT_SECONDS)
    .addHelpText('after', HELP);
  runOnTemporal(command, async (client, { taskQueue }) => {
    const { level, timeoutSeconds } = command.opts<{ level: number; timeoutSeconds: number }>();
    const unusable = await unusableSearchAttributes(client.workflowService, client.options.namespace);
    const searchAttributes = unusable.every(({ name }) => name !== SEARCH_ATTRIBUTES.status);
    const options = { client, taskQueue, limitMs: timeoutSeconds * 1000, searchAttributes };
    const results = await runConformance(options, level);
    const failed = results.filter(({ problem }) => problem !== undefined);
    if (isJson(command)) {
      const checks = results.map((result) => ({ ok: result.problem === undefined, ...result }));
      printJson({ ok: failed.length === 0, level, checks });
    } else {
      for (const result of results) print(line(result));
      if (!searchAttributes) print('not checked: LonghaulStatus, which the namespace lacks');
      print(`${results.length} checks up to level ${level}, ${failed.length} failed`);
    }
    process.exitCode = failed.length === 0 ? EXIT.ok : EXIT.failed;
  });
}

function line({ level, workflow, requirement, problem }: CheckResult): string {
  const head = `${problem === undefined ? 'ok  ' : 'FAIL'}  ${level}  ${workflow}: ${requirement}`;
  return problem === undefined ? head : `${head}: ${problem}`;
}

function levelNumber(text: string): number {
  if (!LEVELS.includes(text)) throw new InvalidArgumentError('expected 1, 2, 3 or 4.');
  return Number(text);
}
