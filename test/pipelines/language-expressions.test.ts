/** Problems of expressions. Every problem stands where its cause does: `▸` marks the place. */
import { describe, expect, test } from '@jest/globals';
import { among, job, only, problemsOf, top, withStep } from './language-support.js';

describe('expressions', () => {
  const message = (content: string) =>
    `\${{ ${content} }}: there are no expressions; use variables in the script: $INPUT_..., secrets and \`env\``;

  test.each(['inputs.dry-run', 'secrets.TOKEN', 'a && b'])('${{ %s }}', (content) => {
    only(withStep(`run: echo ▸\${{ ${content} }}`), `jobs.build.steps[0].run: ${message(content)}`);
  });

  test.each([
    [
      'in a block of text',
      withStep('run: |\n  one\n  two ▸${{ env.A }}\n'),
      `jobs.build.steps[0].run: ${message('env.A')}`,
    ],
    [
      'where something else is expected',
      job('needs: ▸${{ env.A }}'),
      `jobs.build.needs: ${message('env.A')}`,
    ],
    ['in a key', top('env: { "▸${{ env.A }}": 1 }'), `env.\${{ env.A }}: ${message('env.A')}`],
    ['in what is not even YAML', top('env: { A: ▸${{ env.B }} }'), message('env.B')],
  ])('%s', (_, text, message) => among(text, message));

  test('each of several is reported', () => {
    expect(problemsOf(withStep('run: ${{ env.A }} ${{ env.B }}'))).toHaveLength(2);
  });
});
