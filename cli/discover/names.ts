/** Names of drafted tools and of their inputs. */
import { RESERVED_ARGUMENTS } from '../../operations/tool/index.js';
import { isBuiltIn, NAME, TOOL_NAME } from '../../pipelines/names.js';

const MAX_LENGTH = 64;

/** Words of a name in camel case, snake case or with dots, in lower case: `getProgress` is get and progress. */
export function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
}

/** The name of a tool over a workflow type: `refund` for `RefundWorkflow`. @param taken names of other tools */
export function toolNameFor(type: string, taken: ReadonlySet<string>): string {
  const words = wordsOf(type);
  const short = words.length > 1 && words.at(-1) === 'workflow' ? words.slice(0, -1) : words;
  const plain = short.join('_').slice(0, MAX_LENGTH);
  const name = TOOL_NAME.test(plain) ? plain : `run_${plain || 'workflow'}`.slice(0, MAX_LENGTH);
  return unique(name, (one) => taken.has(one));
}

/** The name of the input for a workflow's field: the field's own, unless tools or clients can't have it. */
export function inputNameFor(field: string, taken: ReadonlySet<string>): string {
  const isUsable =
    NAME.test(field) && !isBuiltIn(field) && !(RESERVED_ARGUMENTS as readonly string[]).includes(field);
  const name = isUsable ? field : `${wordsOf(field).join('_') || 'input'}_value`.slice(0, MAX_LENGTH);
  return unique(NAME.test(name) ? name : `_${name}`.slice(0, MAX_LENGTH), (one) => taken.has(one));
}

function unique(name: string, isTaken: (name: string) => boolean): string {
  if (!isTaken(name)) return name;
  for (let number = 2; ; number += 1) {
    const suffix = `_${number}`;
    const numbered = `${name.slice(0, MAX_LENGTH - suffix.length)}${suffix}`;
    if (!isTaken(numbered)) return numbered;
  }
}
