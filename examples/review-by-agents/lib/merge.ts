/** Merges findings of several checks or reviewers into one review. Imports no module of Node.js: workflows use it too. */
import { byPlace, SEVERITIES, type Aspect, type Finding } from './review.js';

/** Rules of different checks that find the same thing. */
const SAME: Record<string, string> = { 'ts/no-unused-vars': 'unused', TS6133: 'unused', parse: 'syntax' };
const topicOf = (rule: string): string => SAME[rule] ?? (/^TS1\d{3}$/.test(rule) ? 'syntax' : rule);

/** One finding for each file, line and topic, with the highest severity. Does not depend on the order of the findings. */
export function mergeFindings(findings: readonly Finding[]): Finding[] {
  const merged = new Map<string, Finding>();
  for (const finding of findings.toSorted(byPlace)) {
    const key = [finding.file, finding.line, topicOf(finding.rule)].join('\n');
    const other = merged.get(key);
    if (!other) {
      merged.set(key, finding);
      continue;
    }
    const severities = SEVERITIES.filter((one) => one === other.severity || one === finding.severity);
    const by = [...new Set([...other.by, ...finding.by])].toSorted();
    merged.set(key, { ...other, severity: severities[0]!, by });
  }
  return [...merged.values()].toSorted(byPlace);
}

/** The review as text: a line for each finding, by file. */
export function renderReview(findings: readonly Finding[], missing: readonly Aspect[] = []): string {
  const count = (severity: string) => findings.filter((finding) => finding.severity === severity).length;
  const lines: string[] = [];
  let file: string | undefined;
  for (const finding of findings) {
    if (finding.file !== file) lines.push(`${lines.length ? '\n' : ''}${(file = finding.file)}`);
    const { line, severity, message, rule, by } = finding;
    lines.push(`  ${String(line).padStart(3)} ${severity.padEnd(7)} ${message} (${rule}; ${by.join(', ')})`);
  }
  const total = `errors: ${count('error')}, warnings: ${count('warning')}, notes: ${count('note')}`;
  const gaps = missing.map((aspect) => `MISSING: nobody reviewed ${aspect}.`);
  return [...lines, ...(lines.length ? [''] : []), ...gaps, total].join('\n');
}
