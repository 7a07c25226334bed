/** The report as Markdown. Pure: the workflow renders what there is so far with it. */
import type { Citation, Research } from './types.js';

const MAX_SKIPPED = 20;

export function renderReport(research: Research): string {
  const { topic, survey, rounds, findings, contradictions, open, notes } = research;
  const sources: Citation[] = [];
  const mark = (citation: Citation) => {
    const at = sources.findIndex((known) => keyOf(known) === keyOf(citation));
    return `[${at === -1 ? sources.push(citation) : at + 1}]`;
  };
  const answered = findings.filter(({ claims }) => claims.length > 0);
  const sections = answered.map(({ question, claims }) => [
    `## ${escaped(question)}`,
    claims.map(({ text, citations }) => `- ${escaped(text)} ${citations.map(mark).join('')}`).join('\n'),
  ]);
  const conflicts = contradictions.map(
    ({ about, sides: [one, other] }) =>
      `- ${escaped(about)}: ${escaped(one.document)} ${mark(one)} against ${escaped(other.document)} ${mark(other)}`,
  );
  const without = findings.filter(({ claims }) => claims.length === 0).map(({ question }) => question);
  const skipped = survey.skipped.map(({ document, reason }) => `- ${escaped(document)}: ${reason}`);
  const further = skipped.length - MAX_SKIPPED;
  if (further > 0) skipped.splice(MAX_SKIPPED, further, `- and ${further} more`);
  return (
    [
      `# ${escaped(topic)}`,
      originOf(survey.model),
      `${count(survey.documents, 'document')} read, ${skipped.length > 0 ? survey.skipped.length : 'none'} skipped; ${count(rounds, 'round')}, ${count(findings.length, 'question')}.`,
      ...notes.map((note) => `Note: ${escaped(note)}`),
      ...(conflicts.length > 0 ? ['## The documents contradict each other', conflicts.join('\n')] : []),
      ...sections.flat(),
      ...listed('## Nothing found, or nothing new', without),
      ...listed('## Left open', open),
      ...(skipped.length > 0 ? ['## Skipped documents', skipped.join('\n')] : []),
      ...(sources.length > 0 ? ['## Sources', sourcesBlock(sources)] : []),
      '',
    ]
      .join('\n\n')
      .trimEnd() + '\n'
  );
}

function originOf(model: string | null): string {
  return model === null
    ? '> Extracted without a language model: sentences of the documents, chosen by their words and quoted as they are. Nothing was written or concluded.'
    : `> Written by the language model ${escaped(model)}. Every statement cites lines in which its quote was found; whether the statement follows from them was not checked.`;
}

function keyOf({ document, fromLine, toLine, quote }: Citation): string {
  return JSON.stringify([document, fromLine, toLine, quote]);
}

function listed(title: string, items: string[]): string[] {
  return items.length > 0 ? [title, items.map((item) => `- ${escaped(item)}`).join('\n')] : [];
}

/** In a block of code: links, images and HTML of the documents do nothing for the reader of the report. */
function sourcesBlock(sources: Citation[]): string {
  const lines = sources.flatMap(({ document, fromLine, toLine, quote }, index) => [
    `[${index + 1}] ${document}:${fromLine}${toLine > fromLine ? `-${toLine}` : ''}`,
    `    ${quote.replace(/\s+/g, ' ').trim()}`,
  ]);
  return `~~~~text\n${lines.join('\n').replaceAll('~~~~', '~ ~ ~ ~')}\n~~~~`;
}

/** One line in which nothing is a link, an image or HTML. */
function escaped(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[<>[\]]/g, (sign) => `\\${sign}`);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
