/** Checks of steps. */
import { posix } from 'node:path';
import { isObject } from '../../operations/json/is-object.js';
import { MAX_STEPS } from '../pipeline.js';
import type { KeyPath, Report } from '../yaml/problems.js';
import { at, entriesOf, itemsOf } from '../values.js';
import { checkFields } from './schemas.js';

/** Keys without effect on a step that has no script. */
const OF_SCRIPTS = ['working-directory', 'timeout-minutes', 'retry', 'idempotent'];

export function checkSteps(file: unknown, report: Report): void {
  let total = 0;
  for (const [name, job] of entriesOf(at(file, 'jobs'))) {
    const steps = itemsOf(at(job, 'steps'));
    total += steps.length;
    const names = new Map<string, number>();
    for (const [index, step] of steps.entries()) {
      const path = ['jobs', name, 'steps', index];
      if (isObject(step)) checkStep(step, index, path, report);
      checkName(step, index, names, path, report);
    }
  }
  if (total > MAX_STEPS)
    report(['jobs'], `expected at most ${MAX_STEPS} steps in all jobs; got ${total}`, 'key');
}

function checkStep(step: Record<string, unknown>, index: number, path: KeyPath, report: Report): void {
  const approval = at(step, 'approval');
  if (at(step, 'run') === undefined) {
    if (approval === undefined && !FOREIGN.some((key) => key in step))
      report([...path, 'run'], 'missing; expected a script, or `approval`');
    for (const key of OF_SCRIPTS)
      if (key in step) report([...path, key], 'has no effect on a step without `run`; remove it', 'key');
  }
  if (index === 0 && at(step, 'if') === 'failure')
    report(
      [...path, 'if'],
      'the step can never run: `if: failure` is about earlier steps of its job, and it is the first',
    );
  checkFields(at(approval, 'fields'), [...path, 'approval', 'fields'], report);
  const folder = at(step, 'working-directory');
  if (typeof folder === 'string') checkFolder(folder, [...path, 'working-directory'], report);
}

/** Other systems' keys for `run`; reported as unknown keys. */
const FOREIGN = ['uses', 'script', 'command', 'cmd'];

/** Logs and resume find a step by its name. */
function checkName(
  step: unknown,
  index: number,
  names: Map<string, number>,
  path: KeyPath,
  report: Report,
): void {
  const given = at(step, 'name');
  const name = typeof given === 'string' ? given : `step ${index + 1}`;
  const other = names.get(name);
  if (other === undefined) names.set(name, index);
  else report([...path, 'name'], `"${name}" is also the name of step ${other + 1}; give each its own name`);
}

function checkFolder(folder: string, path: KeyPath, report: Report): void {
  const isOutside =
    /^(\/|~|[A-Za-z]:)/.test(folder) || posix.normalize(folder.replaceAll('\\', '/')).split('/')[0] === '..';
  if (isOutside)
    report(path, `expected a folder within the workspace; got "${folder}"; use cd in the script`);
  else if (folder.includes('$'))
    report(path, `variables aren't expanded here; got "${folder}"; use cd in the script`);
}
