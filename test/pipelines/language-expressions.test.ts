/** Problems of expressions. Every problem stands where its cause does: `▸` marks the place. */
import { describe, expect, test } from '@jest/globals';
import { among, job, only, problemsOf, top, withStep } from './language-support.js';

describe('expressions', () => {
  const no = 'there are no expressions';
  test.each([
    ['inputs.dry-run', `${no}; use $INPUT_DRY_RUN in the script`],
    ['github.event.inputs.a', `${no}; use $INPUT_A in the script`],
    ['secrets.TOKEN', `${no}; list TOKEN under \`secrets\` and use $TOKEN in the script`],
    [
      'needs.a.outputs.b',
      `${no}; have a write b to a file and list it under its \`artifacts\`; here it is under $LONGHAUL_ARTIFACTS/a/`,
    ],
    ['a && b', `${no}; compute it in the script`],
  ])('${{ %s }}', (content, message) => {
    only(
      withStep(`run: echo ▸\${{ ${content} }}`),
      `jobs.build.steps[0].run: \${{ ${content} }}: ${message}`,
    );
  });

  test.each([
    [
      'in a block of text',
      withStep('run: |\n  one\n  two ▸${{ env.A }}\n'),
      'jobs.build.steps[0].run: ${{ env.A }}: there are no expressions; use $A in the script',
    ],
    [
      'where something else is expected',
      job('needs: ▸${{ env.A }}'),
      'jobs.build.needs: ${{ env.A }}: there are no expressions; use $A in the script',
    ],
    [
      'in a key',
      top('env: { "▸${{ env.A }}": 1 }'),
      'env.${{ env.A }}: ${{ env.A }}: there are no expressions; use $A in the script',
    ],
    [
      'in what is not even YAML',
      top('env: { A: ▸${{ env.B }} }'),
      '${{ env.B }}: there are no expressions; use $B in the script',
    ],
  ])('%s', (_, text, message) => among(text, message));

  test('each of several is reported', () => {
    expect(problemsOf(withStep('run: ${{ env.A }} ${{ env.B }}'))).toHaveLength(2);
  });
});
