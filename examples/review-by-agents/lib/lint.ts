/** ESLint's core over one file. The rules are these, never the configuration of the reviewed project: that is code. */
import { Linter } from 'eslint';
import tseslint from 'typescript-eslint';
import { isAdded, type ChangedFile, type Finding } from './review.js';

const CODE = /\.[cm]?[jt]sx?$/;
export const isCode = (path: string): boolean => CODE.test(path);

const CONFIG: Linter.Config[] = [
  {
    files: ['**/*.?([cm])[jt]s?(x)'],
    languageOptions: { parser: tseslint.parser as Linter.Parser },
    plugins: { ts: tseslint.plugin as never },
    rules: {
      complexity: ['warn', 8],
      eqeqeq: 'warn',
      'max-depth': ['warn', 4],
      'no-constant-condition': 'warn',
      'no-debugger': 'error',
      'no-empty': 'warn',
      'no-eval': 'error',
      'no-fallthrough': 'error',
      'no-self-compare': 'error',
      'no-unreachable': 'error',
      'no-var': 'warn',
      'prefer-const': 'warn',
      'ts/no-explicit-any': 'warn',
      'ts/no-unused-vars': 'warn',
    },
  },
];

/** Findings in lines that the change adds, and the place where the file can't be parsed. */
export function lint(file: ChangedFile, text: string): Finding[] {
  // Without a folder of its own, ESLint would ignore files outside of the worker's.
  const linter = new Linter({ cwd: '/' });
  const messages = linter.verify(text, CONFIG, { filename: `/${file.path}` });
  return messages
    .filter(({ fatal, line }) => fatal || isAdded(file, line))
    .map(({ line, severity, ruleId, message, fatal }) => ({
      file: file.path,
      line: line ?? 1,
      severity: fatal || severity === 2 ? 'error' : 'warning',
      rule: fatal ? 'parse' : (ruleId ?? 'eslint'),
      message: message.replace(/^Parsing error: /, ''),
      by: ['lint'],
    }));
}
