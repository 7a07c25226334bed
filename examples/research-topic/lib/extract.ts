/** Research without a language model: sections to look at, and sentences to quote, are chosen by their words. */
import { contradictionsIn } from './contradictions.js';
import { plain, sentencesOf, type Passage } from './passages.js';
import { locate } from './quotes.js';
import { termsOf, type FolderIndex, type Hit } from './search.js';
import type { Citation, Claim, Critique, Finding, Question } from './types.js';

const MAX_SENTENCE = 400;
/** Fewer are the heads of tables. */
const MIN_TERMS = 4;
const CLAIMS = 5;

/** The topic itself, and the sections with most to say about it. */
export function planByWords(topic: string, index: FolderIndex, limit: number): Question[] {
  const best = [...sectionsAbout(topic, index, 40).values()].sort((one, other) => other.score - one.score);
  const further = best.map(({ passage }) => aboutSection(topic, passage));
  return [{ text: topic, query: topic }, ...further].slice(0, limit);
}

/** Sections among the best passages, by {@link sectionOf}, each with the sum of their scores. */
function sectionsAbout(topic: string, index: FolderIndex, passages: number) {
  const sections = new Map<string, { passage: Passage; score: number }>();
  for (const hit of index.find(topic, passages, passages)) {
    const section = sections.get(sectionOf(hit)) ?? { passage: hit, score: 0 };
    section.score += hit.score;
    sections.set(sectionOf(hit), section);
  }
  return sections;
}

const sectionOf = ({ document, heading }: Passage) => `${document}#${heading}`;

function aboutSection(topic: string, { document, heading }: Passage): Question {
  return { text: `${heading} (${document})`, query: `${heading} ${topic}` };
}

/** Sentences that share most with the question, rare words before common ones, one of each passage. */
export function answerByWords({ query }: Question, hits: readonly Hit[], index: FolderIndex): Claim[] {
  const wanted = new Set(termsOf(query));
  const best = hits.flatMap((hit, rank) => {
    const sentences = sentencesOf(hit).filter((each) => each.length <= MAX_SENTENCE);
    const rated = sentences.map((sentence) => {
      const terms = termsOf(sentence);
      const shared = terms
        .filter((term) => wanted.has(term))
        .reduce((sum, term) => sum + index.weightOf(term), 0);
      return {
        sentence,
        hit,
        shared,
        terms: terms.length,
        score: shared / Math.sqrt(terms.length + 8) + 1 / (rank + 2),
      };
    });
    const top = rated
      .filter(({ terms }) => terms >= MIN_TERMS)
      .sort((one, other) => other.score - one.score)[0];
    return top && top.shared > 0 ? [top] : [];
  });
  return best
    .sort((one, other) => other.score - one.score)
    .slice(0, CLAIMS)
    .flatMap(({ sentence, hit }) => {
      const lines = locate(hit.text, sentence, hit.fromLine);
      const citation = { document: hit.document, ...lines!, quote: sentence };
      return lines ? [{ text: plain(sentence), citations: [citation] }] : [];
    });
}

/** Follows links of cited passages to sections that nobody has looked at, and words of the topic that no statement has. */
export function criticByWords(
  topic: string,
  asked: readonly string[],
  findings: readonly Finding[],
  index: FolderIndex,
  limit: number,
): Critique {
  const citations = findings.flatMap(({ claims }) => claims.flatMap((claim) => claim.citations));
  const said = new Set(citations.flatMap(({ quote }) => termsOf(quote)));
  const words = (topic.match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) =>
    termsOf(word).some((term) => !said.has(term)),
  );
  const missing = words
    .filter((word) => index.find(word, 1).length > 0)
    .map((word) => ({ text: `The word "${word}" of the topic`, query: word }));
  const about = sectionsAbout(topic, index, 400);
  const scoreOf = (passage: Passage) => about.get(sectionOf(passage))?.score ?? 0;
  const linked = sectionsLinkedFrom(citations, index)
    .filter((passage) => scoreOf(passage) > 0)
    .sort((one, other) => scoreOf(other) - scoreOf(one))
    .map((passage) => aboutSection(topic, passage));
  const gaps = [...missing, ...linked].filter(({ text }) => !asked.includes(text));
  return { gaps: gaps.slice(0, limit), contradictions: contradictionsIn(findings) };
}

/** Sections of the folder that links of the cited passages lead to. */
function sectionsLinkedFrom(citations: readonly Citation[], index: FolderIndex): Passage[] {
  const bySlug = new Map<string, Passage>();
  const cited: Passage[] = [];
  for (const passage of index.passages) {
    const key = `${passage.document}#${slug(passage.heading)}`;
    if (!bySlug.has(key)) bySlug.set(key, passage);
    const isCited = citations.some(
      ({ document, fromLine, toLine }) =>
        document === passage.document && fromLine <= passage.toLine && toLine >= passage.fromLine,
    );
    if (isCited) cited.push(passage);
  }
  const sections = new Set<Passage>();
  for (const { document, text } of cited)
    for (const [, file, anchor] of text.matchAll(/\]\(([^)#\s]*)#([^)\s]+)\)/g)) {
      const section = bySlug.get(`${resolveLink(document, file!)}#${anchor}`);
      if (section) sections.add(section);
    }
  return [...sections];
}

/** Document that a link leads to; it is only looked up among the documents that were read. */
function resolveLink(document: string, link: string): string {
  if (link === '') return document;
  const parts = document.split('/').slice(0, -1);
  for (const part of link.split('/'))
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  return parts.join('/');
}

/** Anchor of a heading, as GitHub makes it. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}
