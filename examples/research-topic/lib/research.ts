/** The state of a research: findings, contradictions and notes of its rounds. Pure: the workflow keeps it. */
import { renderReport } from './render-report.js';
import type { Critique, Finding, Question, Research, Survey } from './types.js';

export function beginResearch(topic: string, survey: Survey): Research {
  return { topic, survey, rounds: 0, findings: [], contradictions: [], open: [], notes: [] };
}

export const textsOf = (questions: readonly Question[]) => questions.map(({ text }) => text);

/** Adds findings; a statement that another researcher has found too is there once. */
export function addFindings(research: Research, findings: Finding[]): void {
  for (const finding of findings) {
    const known = research.findings.flatMap(({ claims }) => claims.map(({ text }) => text));
    const claims = finding.claims.filter(({ text }) => !known.includes(text));
    research.findings.push({ ...finding, claims });
    if (finding.isUnreadable)
      research.notes.push(`the model gave no readable answer to "${finding.question}".`);
    if (finding.dropped > 0)
      research.notes.push(
        `${finding.dropped} of the model's statements on "${finding.question}" were left out: a quote isn't in the documents.`,
      );
  }
}

export function addCritique(research: Research, critique: Critique, round: number): void {
  const key = ({ sides }: Research['contradictions'][number]) =>
    sides
      .map(({ document, fromLine }) => `${document}:${fromLine}`)
      .sort()
      .join(' ');
  const known = new Set(research.contradictions.map(key));
  for (const contradiction of critique.contradictions) {
    if (known.has(key(contradiction))) continue;
    known.add(key(contradiction));
    research.contradictions.push(contradiction);
  }
  if (critique.isUnreadable) research.notes.push(`the model gave no readable critique of round ${round}.`);
}

/** Read at any time, and after a cancel. */
export function partialOf(research: Research) {
  const statements = research.findings.reduce((sum, { claims }) => sum + claims.length, 0);
  return { rounds: research.rounds, statements, report: renderReport(research) };
}
