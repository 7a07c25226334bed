import { stat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import { cancellationSignal, log, report, saveArtifact, workerSettings } from 'longhaul/activity';
import type { Artifact } from 'longhaul/activity';
import { planChunks, type Chunk } from '../lib/lines.js';
import type { Assessment, Model } from '../lib/models.js';
import { joinParts, openParts, partPath, partsFolder, sweepParts } from '../lib/parts.js';
import { BAD_HEADER, foundBefore, HEADER } from '../lib/screen.js';
import { assertUnchanged, findSource, type SourceFile } from '../lib/source-file.js';
import type { Found, Question } from '../lib/summary.js';
import { inThread } from '../lib/threads.js';

/** So that a run has some 200 chunks at most, however large the file is, and its history is bounded. */
const MOST_CHUNKS = 200;
const LEAST_CHUNK_BYTES = 16 * 1024;

function ownFolder(): string {
  return partsFolder(workerSettings().home, activityInfo().workflowExecution!.workflowId);
}

export async function checkQuery(query: string): Promise<void> {
  const reason = await inThread('check', { smiles: query }, cancellationSignal());
  if (reason) throw ApplicationFailure.nonRetryable(`query ${query}: ${reason}`, 'BadQuery');
}

/** @param continues token of an earlier run */
export async function planScreening(
  path: string,
  question: Question,
  continues?: string,
): Promise<{ file: SourceFile; chunks: Chunk[] }> {
  const { home, dataFolders } = workerSettings();
  const file = await findSource(path, dataFolders, home);
  const chunkBytes = Math.max(LEAST_CHUNK_BYTES, Math.ceil(file.bytes / MOST_CHUNKS));
  const chunks = await planChunks(file.path, chunkBytes, cancellationSignal());
  if (chunks.length === 0) throw ApplicationFailure.nonRetryable(`${path} is empty`, 'NoMolecules');
  await sweepParts(home);
  await openParts(ownFolder(), { file, question }, continues && partsFolder(home, continues));
  return { file, chunks };
}

/** Screens one chunk, unless an earlier attempt or run has: then its files are there. */
export async function screenPart(
  file: SourceFile,
  number: number,
  chunk: Chunk,
  question: Question,
  floor: number,
): Promise<Found & { isTakenOver: boolean }> {
  await assertUnchanged(file);
  const target = partPath(ownFolder(), number);
  const before = await foundBefore(target);
  if (before) {
    report({ progress: chunk.lines });
    return { ...before, isTakenOver: true };
  }
  const found = await inThread(
    'screen',
    { path: file.path, chunk, question, target, floor },
    cancellationSignal(),
    (lines) => report({ progress: lines, message: `line ${chunk.line + lines}` }),
  );
  report({ progress: chunk.lines });
  for (const { line, reason } of found.firstBad.slice(0, 1))
    log.warn('bad lines', { first: line, reason, count: found.badLines });
  return { ...found, isTakenOver: false };
}

export async function assessHits(model: Model, smiles: string[]): Promise<Assessment[]> {
  const assessments: Assessment[] = [];
  for (const one of smiles) {
    assessments.push(await inThread('predict', { model, smiles: one }, cancellationSignal()));
    report({ progress: 0, message: `${model} of ${assessments.length} of ${smiles.length} hits` });
  }
  return assessments;
}

/** Both tables, each whole: a file becomes an artifact once it is complete. Parts stay, for another attempt. */
export async function saveTables(
  chunks: number,
): Promise<{ table: { uri: string; bytes: number; sha256: string }; bad?: Artifact }> {
  const folder = ownFolder();
  const parts = Array.from({ length: chunks }, (_, number) => partPath(folder, number));
  const badParts = parts.map((part) => `${part}.bad.csv`);
  const sizes = await Promise.all(badParts.map((part) => stat(part)));
  let bad: Artifact | undefined;
  if (sizes.some(({ size }) => size > 0)) {
    await joinParts(join(folder, 'bad-lines.csv'), BAD_HEADER, badParts, cancellationSignal());
    bad = await saveArtifact(join(folder, 'bad-lines.csv'));
  }
  const path = join(folder, 'table.csv');
  const rows = parts.map((part) => `${part}.csv`);
  const sha256 = await joinParts(path, HEADER, rows, cancellationSignal());
  const { uri, bytes } = await saveArtifact(path);
  return { table: { uri, bytes, sha256 }, ...(bad && { bad }) };
}

export async function removeParts(): Promise<void> {
  await rm(ownFolder(), { recursive: true, force: true });
}
