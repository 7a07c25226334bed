/** JUnit XML, with the elements for reruns that Maven's Surefire has introduced and CI servers read. */
import type { Problem, TestHistory } from './types.js';

/** Characters that XML 1.0 has no way to write. */
// prettier-ignore
// eslint-disable-next-line no-control-regex
const ILLEGAL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
};

const text = (value: string) =>
  value.replace(ILLEGAL, '\ufffd').replace(/[&<>]/g, (found) => ESCAPES[found]!);
const attribute = (value: string) =>
  value.replace(ILLEGAL, '\ufffd').replace(/[&<>"\n]/g, (found) => ESCAPES[found]!);

/** A suite for each file, and one more for what went wrong beside the tests. */
export function junitXml(tests: readonly TestHistory[], problems: readonly Problem[]): string {
  const files = new Map<string, TestHistory[]>();
  for (const test of tests) files.set(test.file, [...(files.get(test.file) ?? []), test]);
  const suites = [...files].map(([file, own]) => {
    const count = (verdict: TestHistory['verdict']) => own.filter((test) => test.verdict === verdict).length;
    const seconds = own.reduce((sum, { ms }) => sum + ms, 0) / 1000;
    const counts = `tests="${own.length}" failures="${count('failed')}" errors="0" skipped="${count('skipped')}"`;
    return [
      `  <testsuite name="${attribute(file)}" ${counts} time="${seconds.toFixed(3)}">`,
      ...own.map(testcase),
      '  </testsuite>',
    ].join('\n');
  });
  if (problems.length > 0) {
    const cases = problems.map(({ run, shard, kind, message, lastLines }) => {
      const body = text([message, ...lastLines].join('\n'));
      return `    <testcase classname="runner" name="${attribute(`run ${run}, shard ${shard}`)}"><error type="${kind}" message="${attribute(message)}">${body}</error></testcase>`;
    });
    suites.push(
      `  <testsuite name="runner" tests="${cases.length}" failures="0" errors="${cases.length}" skipped="0">\n${cases.join('\n')}\n  </testsuite>`,
    );
  }
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('\n')}\n</testsuites>\n`;
}

function testcase({ file, name, ms, verdict, outcomes, message = '' }: TestHistory): string {
  const open = `    <testcase classname="${attribute(file)}" name="${attribute(name)}" time="${(ms / 1000).toFixed(3)}"`;
  if (verdict === 'passed') return `${open}/>`;
  if (verdict === 'skipped') return `${open}><skipped/></testcase>`;
  const failures = outcomes.split('F').length - 1;
  const element = (tag: string) =>
    `<${tag} message="${attribute(message.split('\n')[0] ?? '')}">${text(message)}</${tag}>`;
  if (verdict === 'flaky') return `${open}>${element('flakyFailure').repeat(failures)}</testcase>`;
  return `${open}>${element('failure')}${element('rerunFailure').repeat(failures - 1)}</testcase>`;
}
