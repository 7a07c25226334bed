/** Checks of scripts for other systems' variables and commands, which are empty or have no effect here. */
import { unsupportedVariableMessage } from '../unsupported-variables.js';
import type { Report } from '../problems.js';
import { expandedVariables, isAssignedOrTested } from '../script-variables.js';
import { at, entriesOf, itemsOf, textsOf } from '../values.js';

const COMMANDS: [text: string, instead: string][] = [
  ['::set-output', 'write key=value to "$LONGHAUL_OUTPUT", and list the key under `outputs` of the job'],
  ['::set-env', 'set it under `env`'],
  ['::add-path', 'extend PATH in each script that needs it'],
  ['::add-mask', 'only what is listed under `secrets` is masked'],
];

export function checkScripts(file: unknown, report: Report): void {
  const secrets = textsOf(at(file, 'secrets')).map(([, name]) => name);
  for (const [name, job] of entriesOf(at(file, 'jobs'))) {
    for (const [index, step] of itemsOf(at(job, 'steps')).entries()) {
      const run = at(step, 'run');
      if (typeof run !== 'string') continue;
      const path = ['jobs', name, 'steps', index, 'run'];
      const declared = [file, job, step].flatMap((owner) => entriesOf(at(owner, 'env')).map(([one]) => one));
      const known = new Set([...secrets, ...declared]);
      for (const variable of expandedVariables(run)) {
        const message = known.has(variable) ? undefined : unsupportedVariableMessage(variable);
        if (message === undefined || isAssignedOrTested(run, variable)) continue;
        report(path, message, { text: usedAs(run, variable) });
      }
      for (const [text, instead] of COMMANDS)
        if (run.includes(`${text} `) && /\becho\b|\bprintf\b/.test(run))
          report(path, `${text} is a command of GitHub Actions, without effect here; ${instead}`, { text });
    }
  }
}

/** The variable as the script writes it: `$NAME` or `${NAME`. */
function usedAs(run: string, variable: string): string {
  return new RegExp(String.raw`\$(\{[!#]?)?${variable}\b`).exec(run)?.[0] ?? variable;
}
