/** Hints for `${{ }}` expressions, by their content. Pipelines have no expression language. */
import { inputVariable } from './names.js';

export function* expressionsIn(text: string): Generator<{ offset: number; content: string }> {
  for (let from = text.indexOf('${{'); from >= 0; from = text.indexOf('${{', from + 3)) {
    const [content = ''] = text.slice(from + 3, from + 200).split(/\}\}|\$\{\{|\n/);
    yield { offset: from, content: content.trim() };
  }
}

const WORD = '[A-Za-z_][A-Za-z0-9_-]*';
const INSTEAD: [RegExp, (...names: string[]) => string][] = [
  [
    new RegExp(`^(?:github\\.event\\.)?inputs\\.(${WORD})`),
    (name) => `use $${inputVariable(name)} in the script`,
  ],
  [
    new RegExp(`^secrets\\.(${WORD})`),
    (name) => `list ${name} under \`secrets\` and use $${name} in the script`,
  ],
  [new RegExp(`^env\\.(${WORD})`), (name) => `use $${name} in the script`],
  [new RegExp(`^vars\\.(${WORD})`), (name) => `set ${name} under \`env\` and use $${name} in the script`],
  [
    new RegExp(`^jobs\\.(${WORD})\\.outputs\\.(${WORD})`),
    (job, key) => `write \`${job}.${key}\` without the braces`,
  ],
  [
    new RegExp(`^needs\\.(${WORD})\\.outputs\\.(${WORD})`),
    (job, key) =>
      `have ${job} write ${key} to a file and list it under its \`artifacts\`; here it is under $LONGHAUL_ARTIFACTS/${job}/`,
  ],
  [/^needs\./, () => 'use `if: success`, `if: failure` or `if: always` of the job'],
  [/^steps\./, () => 'steps of a job share its workspace: write a file in one and read it in the other'],
  [/^(matrix|strategy)\b/, () => 'use `for-each` of the job, and $LONGHAUL_ITEM in the script'],
  [/^github\.workspace\b/, () => 'scripts begin in the workspace, $LONGHAUL_WORKSPACE'],
  [/^github\.token\b/, () => 'list a token under `secrets`, and use its variable in the script'],
  [/^github\.(run_id|run_number)\b/, () => 'use $LONGHAUL_TOKEN, which names the operation'],
  [/^github\.job\b/, () => 'use $LONGHAUL_JOB'],
  [/^runner\.temp\b/, () => 'use $TMPDIR'],
  [/^runner\b/, () => "steps run on the worker's machine: ask it in the script, as with `uname`"],
  [
    /^github\b/,
    () => 'no repository or event starts a pipeline: declare an input, and use its $INPUT_... variable',
  ],
  [/^job\b/, () => 'use `if: success`, `if: failure` or `if: always` of a step'],
  [
    /^(hashFiles|toJSON|fromJSON|format|join|contains|startsWith|endsWith)\(/i,
    () => 'compute it in the script',
  ],
  [/^(success|failure|always)\(\)$/, (name) => `write \`if: ${name}\``],
  [/^!?cancelled\(\)/, () => 'write `if: always`'],
];

/** Message that says what to write instead of an expression. */
export function expressionMessage(content: string): string {
  const shown = content ? `\${{ ${content.length > 60 ? `${content.slice(0, 57)}...` : content} }}` : '${{';
  for (const [pattern, instead] of INSTEAD) {
    const match = pattern.exec(content);
    if (match) return `${shown}: there are no expressions; ${instead(...match.slice(1))}`;
  }
  return `${shown}: there are no expressions; compute it in the script`;
}
