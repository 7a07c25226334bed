/** Research without a language model: sections to look at, and sentences to quote, are chosen by their words. */
import { contradictionsIn } from './contradictions.js';
import { plain, sentencesOf, type Passage } from './passages.js';
import { locate } from './quotes.js';
import { termsOf, type FolderIndex, type Hit } from './search.js';
import type { Citation, Claim, Critique, Finding, Question } from './types.js';

const MAX_SENTENCE = 400;
const CLAIMS = 5;

/** The topic itself, and the sections with most to say about it. */
export function planByWords(topic: string, index: FolderIndex, limit: number): Question[] {
  const sections = new Map<string, { passage: Passage; score: number }>();
  for (const hit of index.find(topic, 40)) {
    const section = sections.get(sectionOf(hit)) ?? { passage: hit, score: 0 };
    section.score += hit.score;
    sections.set(sectionOf(hit), section);
  }
  const best = [...sections.values()].sort((one, other) => other.score - one.score);
  const further = best.map(({ passage }) => aboutSection(topic, passage));
  return [{ text: topic, query: topic }, ...further].slice(0, limit);
}

const sectionOf = ({ document, heading }: Passage) => `${document}#${heading}`;

function aboutSection(topic: string, { document, heading }: Passage): Question {
  return { text: `${heading} (${document})`, query: `${heading} ${topic}` };
}

/** Sentences that share most words with the question, one of each passage. */
export function answerByWords({ query }: Question, hits: readonly Hit[]): Claim[] {
  const wanted = termsOf(query);
  const best = hits.flatMap((hit, rank) => {
    const sentences = sentencesOf(hit).filter((each) => each.length <= MAX_SENTENCE);
    const rated = sentences.map((sentence) => {
      const terms = termsOf(sentence);
      const shared = terms.filter((term) => wanted.includes(term)).length;
      return { sentence, hit, shared, score: shared / Math.sqrt(terms.length + 4) + 0.5 / (rank + 2) };
    });
    const top = rated.sort((one, other) => other.score - one.score)[0];
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
  const words = (topic.match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => termsOf(word).some((term) => !said.has(term)));
  const missing = words
    .filter((word) => index.find(word, 1).length > 0)
    .map((word) => ({ text: `The word "${word}" of the topic`, query: word }));
  const linked = sectionsLinkedFrom(citations, index).map((passage) => aboutSection(topic, passage));
  const gaps = [...missing, ...linked].filter(({ text }) => !asked.includes(text));
  return { gaps: gaps.slice(0, limit), contradictions: contradictionsIn(findings) };
}

/** Sections of the folder, those first that most links of the cited passages lead to. */
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
  const counts = new Map<Passage, number>();
  for (const { document, text } of cited)
    for (const [, file, anchor] of text.matchAll(/\]\(([^)#\s]*)#([^)\s]+)\)/g)) {
      const section = bySlug.get(`${resolveLink(document, file!)}#${anchor}`);
      if (section) counts.set(section, (counts.get(section) ?? 0) + 1);
    }
  return [...counts].sort(([, one], [, other]) => other - one).map(([section]) => section);
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
