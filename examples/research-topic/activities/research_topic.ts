import { createHash } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import { cancellationSignal, log, workerSettings, writeArtifact } from 'longhaul/activity';
import { answerByModel, criticByModel, planByModel, type Model } from '../lib/ask-model.js';
import { contradictionsIn } from '../lib/contradictions.js';
import { readDocuments, resolveFolder } from '../lib/documents.js';
import { answerByWords, criticByWords, planByWords } from '../lib/extract.js';
import { modelSettings } from '../lib/model.js';
import { Verifier } from '../lib/quotes.js';
import { renderReport } from '../lib/render-report.js';
import { FolderIndex, type Hit } from '../lib/search.js';
import type { Claim, Critique, Finding, Question, Research, Survey } from '../lib/types.js';

const PASSAGES = 12;

/** The folder's documents, and those that can't be used. @throws ApplicationFailure, final, if there is nothing to read */
export async function surveyFolder(given: string): Promise<Survey> {
  const folder = await resolveFolder(given, workerSettings().dataFolders);
  const { documents, skipped } = await readDocuments(folder, cancellationSignal());
  if (documents.length === 0) {
    const reasons = skipped.slice(0, 5).map(({ document, reason }) => `; ${document}: ${reason}`);
    const message = `${JSON.stringify(given)} has no documents (.md, .mdx, .txt, .rst)${reasons.join('')}`;
    throw ApplicationFailure.nonRetryable(message, 'NoDocuments');
  }
  for (const { document, reason } of skipped) log.warn('document skipped', { document, reason });
  return { folder, documents: documents.length, skipped, model: modelSettings()?.model ?? null };
}

/** First questions of the topic. */
export async function planResearch(
  { folder, model }: Survey,
  topic: string,
  limit: number,
): Promise<{ questions: Question[]; isUnreadable?: true }> {
  const index = await indexOf(folder);
  if (model === null) return { questions: planByWords(topic, index, limit) };
  const planned = await planByModel(modelOf(model), topic, index.find(topic, PASSAGES), limit);
  return planned
    ? { questions: planned }
    : { questions: planByWords(topic, index, limit), isUnreadable: true };
}

export async function searchDocuments({ folder }: Survey, { query }: Question): Promise<Hit[]> {
  return (await indexOf(folder)).find(query, PASSAGES);
}

/** Statements on one question, each with quotes that are in the passages. */
export async function answerQuestion(
  { folder, model }: Survey,
  question: Question,
  hits: Hit[],
): Promise<{ claims: Claim[]; dropped: number; isUnreadable?: true }> {
  const none = { claims: [], dropped: 0 };
  if (hits.length === 0) return none;
  if (model === null) return { claims: answerByWords(question, hits, await indexOf(folder)), dropped: 0 };
  const answer = await answerByModel(modelOf(model), question, hits);
  if (!answer) log.warn('no readable answer of the model', { question: question.text });
  if (answer && answer.dropped > 0)
    log.warn('statements dropped: quotes not found', { dropped: answer.dropped });
  return answer ?? { ...none, isUnreadable: true };
}

/** Questions that are left open, and contradictions. */
export async function criticise(
  { folder, model }: Survey,
  topic: string,
  asked: string[],
  findings: Finding[],
  limit: number,
): Promise<Critique> {
  if (model === null) return criticByWords(topic, asked, findings, await indexOf(folder), limit);
  const critique = await criticByModel(modelOf(model), topic, asked, findings, limit);
  // A document may have talked the model out of them: numbers and negations are compared in any case.
  const byWords = contradictionsIn(findings);
  if (!critique) return { gaps: [], contradictions: byWords, isUnreadable: true };
  return { ...critique, contradictions: [...critique.contradictions, ...byWords] };
}

/** Compares every citation with the documents as they are now, and keeps what is there. */
export async function verifyCitations(research: Research): Promise<Research & { unverified: number }> {
  const verifier = new Verifier(research.survey.folder);
  let unverified = 0;
  const findings: Finding[] = [];
  for (const finding of research.findings) {
    const claims = await Promise.all(finding.claims.map((claim) => verifier.claim(claim)));
    const kept = claims.filter((claim) => claim !== undefined);
    unverified += claims.length - kept.length;
    findings.push({ ...finding, claims: kept });
  }
  const checked = await Promise.all(research.contradictions.map((each) => verifier.contradiction(each)));
  return { ...research, findings, contradictions: checked.filter((each) => each !== undefined), unverified };
}

/** Keeps the report as a file of the operation. @returns its address */
export async function saveReport(research: Research): Promise<string> {
  return (await writeArtifact('report.md', renderReport(research))).uri;
}

function modelOf(name: string): Model {
  const settings = modelSettings();
  // Another worker began the research: mixing two models, or none, would make its first lines untrue.
  if (settings?.model !== name)
    throw ApplicationFailure.retryable(`this worker has no model ${JSON.stringify(name)}`, 'ModelMissing');
  return { ...settings, signal: cancellationSignal() };
}

let latest: { folder: string; fingerprint: string; index: Promise<FolderIndex> } | undefined;

/** The folder's index, made again when a document has changed. */
async function indexOf(folder: string): Promise<FolderIndex> {
  const { documents } = await readDocuments(folder, cancellationSignal());
  const fingerprint = createHash('sha256').update(JSON.stringify(documents)).digest('hex');
  if (latest?.folder !== folder || latest.fingerprint !== fingerprint)
    latest = { folder, fingerprint, index: FolderIndex.of(documents) };
  return latest.index;
}
