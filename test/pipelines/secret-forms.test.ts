/** Encoders that steps of pipelines use: whatever they make of a secret is masked. */
import { execFileSync } from 'node:child_process';
import { describe, expect, jest, test } from '@jest/globals';
import { masking } from '../../worker/steps/output/mask.js';
import { parseOutputs } from '../../worker/steps/outputs.js';
import { PROCESSES_MS } from '../support/limits.js';

jest.setTimeout(PROCESSES_MS);

/** Every character that some encoder escapes, and lines. */
const SECRET = `it's "a" <b>&c\\d/é€ 100%+~!$x\tz`;
const LINES = `-----BEGIN KEY-----\nMIIEow/+IBAA=='x"\n&end\nlast line`;

function output(script: string, secret: string): string {
  const env = { ...process.env, SECRET: secret, LC_ALL: 'C.UTF-8' };
  return execFileSync('bash', ['-c', `exec 2>&1; ${script}`], { env, encoding: 'utf8' });
}

/** Expected output, with `***` for the secret. */
const SCRIPTS: [script: string, shown: RegExp][] = [
  ['echo "$SECRET"', /^\*\*\*$/],
  ['set -x; : "$SECRET"', /^\+ : \$?'\*\*\*'$/],
  ['set -x; : user:"$SECRET"', /^\+ : \$?'user:\*\*\*'$/],
  ['printf %q "$SECRET"', /^\$'\*\*\*'$/],
  ['LC_ALL=C; printf %q "$SECRET"', /^\$'\*\*\*'$/],
  ['echo "${SECRET@Q}"', /^\$?'\*\*\*'$/],
  ['declare -p SECRET', /^declare -x SECRET=\$?['"]\*\*\*['"]$/],
  ['export -p | grep -A9 SECRET | head -c 9000', /SECRET=\$?['"]\*\*\*['"]/],
  ['printf %s "$SECRET" | base64', /^\*\*\*=*$/],
  ['printf %s "$SECRET" | base64 -w0', /^\*\*\*=*$/],
  ['printf %s "$SECRET" | base64 -w7', /^\*\*\*(\s*=)*$/],
  // One more symbol holds the two highest bits of the secret, which are the same in all letters.
  ['printf %s "user:$SECRET" | base64', /^dXNlcj.?\*\*\*=*$/],
  ['printf %s "users:$SECRET" | base64', /^dXNlcnM6\*\*\*=*$/],
  [
    'printf %s "userid:$SECRET:more" | base64 -w0',
    /^dXNlcmlk.{1,2}\*\*\*.*bW9yZQ==$|^dXNlcmlk.{1,2}\*\*\*.+$/,
  ],
  ["printf %s \"$SECRET\" | base64 -w0 | tr '+/' '-_' | tr -d =", /^\*\*\*$/],
  ['printf %s "$SECRET" | od -An -v -tx1', /^\*\*\*$/],
  ['printf %s "$SECRET" | od -An -v -tx1 | tr -d \' \\n\'', /^\*\*\*$/],
  ['printf %s "$SECRET" | od -An -v -tx1 | tr -d \' \\n\' | tr a-f A-F', /^\*\*\*$/],
  ["printf %s \"$SECRET\" | od -An -v -tx1 | tr -d '\\n' | tr ' ' %", /^\*\*\*$/],
];

/** As above, of Python, which not every machine has. */
const PYTHON: [script: string, shown: RegExp][] = (
  [
    ['urllib.parse.quote(s, safe="")', /^\*\*\*$/],
    ['re.sub("%..", lambda found: found[0].lower(), urllib.parse.quote(s, safe=""))', /^\*\*\*$/],
    ['html.escape(s).encode("ascii", "xmlcharrefreplace").decode()', /^\*\*\*$/],
    ['xml.sax.saxutils.quoteattr(s)', /^["']\*\*\*["']$/],
    ['json.dumps(s).replace("/", "\\\\/")', /^"\*\*\*"$/],
    ['repr(s)', /^["']\*\*\*["']$/],
    ['ascii(s)', /^["']\*\*\*["']$/],
    ['s.encode()', /^b["']\*\*\*["']$/],
    ['s.encode().hex(":")', /^\*\*\*$/],
    ['base64.urlsafe_b64encode(b"x" + s.encode()).decode()', /^.{0,2}\*\*\*=*$/],
  ] satisfies [code: string, shown: RegExp][]
).map(([code, shown]) => [
  `python3 -c 'import base64,html,json,os,re,urllib.parse,xml.sax.saxutils;s=os.environ["SECRET"];print(${code})'`,
  shown,
]);

const hasPython = output('command -v python3 || true', '') !== '';

describe.each(Object.entries({ 'one line': SECRET, 'several lines': LINES }))(
  'a secret of %s',
  (_, secret) => {
    const expectHidden = (scripts: typeof SCRIPTS) => {
      const hidden = masking([secret]);
      for (const [script, shown] of scripts)
        expect({ script, shown: hidden.text(output(script, secret)).trim() }).toEqual({
          script,
          shown: expect.stringMatching(shown),
        });
    };

    test('is shown in no form by the shell and its tools', () => expectHidden(SCRIPTS));

    (hasPython ? test : test.skip)('is shown in no form by Python', () => expectHidden(PYTHON));
  },
);

test('a line of a secret is masked from 6 characters on, also in other forms', () => {
  const hidden = masking(['first line\nshort\n123456\n']);
  expect(hidden.text('first line, short, 123456')).toBe('***, short, ***');
  expect(hidden.text(`first%20line ${Buffer.from('123456').toString('base64')}`)).toBe('*** ***');
  // Shells drop the line breaks at the end of a value.
  expect(masking(['abcd\n']).text('-abcd-')).toBe('-***-');
});

test('a problem in $LONGHAUL_OUTPUT quotes no beginning of a secret', () => {
  const secret = 'x'.repeat(30) + 'y'.repeat(60);
  const { problem } = parseOutputs(`no key ${secret}`, (text) => masking([secret]).text(text));
  expect(problem).toContain('got "no key ***"');
});
