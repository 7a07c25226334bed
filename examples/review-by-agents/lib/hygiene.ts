/** Secrets, notes of unfinished work, marks of merges, and code without tests. */
import { basename } from 'node:path';
import { isCode } from './lint.js';
import { addedLines, type ChangedFile, type Finding, type Severity } from './review.js';

/** Messages don't quote the line: a review is read by more people than the code. */
const PATTERNS: [rule: string, severity: Severity, pattern: RegExp, message: string][] = [
  ['secret', 'error', /\bAKIA[0-9A-Z]{16}\b/, 'looks like the ID of an AWS access key'],
  ['secret', 'error', /-----BEGIN ([A-Z]+ )?PRIVATE KEY-----/, 'looks like a private key'],
  ['secret', 'error', /\bgh[pousr]_[A-Za-z0-9]{36}\b/, 'looks like a token of GitHub'],
  [
    'secret',
    'error',
    /(password|passwd|secret|api_?key|access_?token)['"]?\s*[:=]\s*['"][^'"\s]{8,}['"]/i,
    'looks like a password or key in the code',
  ],
  ['merge', 'error', /^(<{7}|>{7}) /, 'a mark of a merge'],
  ['unfinished', 'note', /\b(TODO|FIXME|XXX|HACK)\b/, 'work that is left to do'],
];

/** @param tests paths of all test files of the folder */
export function hygiene(file: ChangedFile, text: string, tests: readonly string[]): Finding[] {
  const lines = text.split('\n');
  const findings: Finding[] = [];
  for (const [first, last] of file.added)
    for (let line = first; line <= last; line += 1)
      for (const [rule, severity, pattern, message] of PATTERNS)
        if (pattern.test(lines[line - 1] ?? ''))
          findings.push({ file: file.path, line, severity, rule, message, by: ['hygiene'] });
  if (isCode(file.path) && !isTest(file.path) && addedLines(file) > 0 && !hasTest(file.path, tests))
    findings.push({
      file: file.path,
      line: file.added[0]![0],
      severity: 'warning',
      rule: 'untested',
      message: `there is no test file for ${basename(file.path)}`,
      by: ['hygiene'],
    });
  return findings;
}

export const isTest = (path: string): boolean =>
  isCode(path) && /\.(test|spec)\.|(^|\/)__tests__\//.test(path);

function hasTest(path: string, tests: readonly string[]): boolean {
  const name = basename(path).replace(/\.[^.]+$/, '');
  return tests.some((test) => basename(test).startsWith(`${name}.`));
}
