import { ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import { cleanup, partial, progress, stage } from 'longhaul/workflow';
import type { ToolInput, ToolOutput } from 'longhaul';
import type * as activities from '../activities/screen_molecules.js';
import type { Hit } from '../lib/hits.js';
import { mergeHits } from '../lib/hits.js';
import { addSummaries, emptySummary, firstBadLines, type BadLine } from '../lib/summary.js';
import type tool from '../tools/screen_molecules.js';

type Output = ToolOutput<typeof tool>;

/** Each waits for a thread of its worker if none is idle: more than the threads, so that none waits for the workflow. */
const CHUNKS_AT_ONCE = 4;
/** Hits in the partial result, which the history holds once for each chunk. */
const PARTIAL_HITS = 10;

const { checkQuery, planScreening, screenPart, assessHits, saveTables, removeParts } = proxyActivities<
  typeof activities
>({
  startToCloseTimeout: '2h',
  // Threads compute, so that heartbeats are never late: a worker that misses them is gone.
  heartbeatTimeout: '15s',
  retry: { maximumAttempts: 10, maximumInterval: '30s' },
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
});

export async function screen_molecules(input: ToolInput<typeof tool>): Promise<Output> {
  const { path, continues, ...question } = input;
  stage('check');
  await checkQuery(input.query);
  cleanup(async (reason) => {
    if (reason === 'canceled') await removeParts();
  });
  const { file, chunks } = await planScreening(path, question, continues);
  const lines = chunks.reduce((sum, chunk) => sum + chunk.lines, 0);
  progress({ total: lines });

  stage('screen');
  let summary = emptySummary();
  let best: Hit[] = [];
  let firstBad: BadLine[] = [];
  let ended = 0;
  let takenOver = 0;
  let next = 0;
  const screenChunks = async () => {
    while (next < chunks.length) {
      const number = next++;
      const chunk = chunks[number]!;
      // Whatever is less similar can't be among the best any more, so chunks needn't return it.
      const floor = best.length === question.top ? best.at(-1)!.similarity : 0;
      const { isTakenOver, ...found } = await screenPart.executeWithOptions(
        { summary: `lines ${chunk.line} to ${chunk.line + chunk.lines - 1}` },
        [file, number, chunk, question, floor],
      );
      summary = addSummaries(summary, found);
      best = mergeHits(best, found.best, question.top);
      firstBad = firstBadLines(firstBad, found.firstBad);
      takenOver += isTakenOver ? 1 : 0;
      ended += 1;
      const { molecules, badLines, hits } = summary;
      partial({
        chunks: `${ended} of ${chunks.length}`,
        molecules,
        badLines,
        hits,
        best: best.slice(0, PARTIAL_HITS),
      });
    }
  };
  await Promise.all(Array.from({ length: CHUNKS_AT_ONCE }, screenChunks));
  if (summary.molecules === 0) {
    const [first] = firstBad;
    const reason = first ? `; line ${first.line}: ${first.reason}` : '';
    throw ApplicationFailure.nonRetryable(
      `${path} has no molecules: ${summary.badLines} bad lines, ${summary.blankLines} blank ones${reason}`,
      'NoMolecules',
    );
  }

  stage('assess');
  const smiles = best.map((hit) => hit.smiles);
  const [druglikeness, risks, logS] = await Promise.all([
    assessHits('druglikeness', smiles),
    assessHits('toxicity', smiles),
    assessHits('solubility', smiles),
  ]);

  stage('save');
  const { table, bad } = await saveTables(chunks.length);
  await removeParts();
  const { molecules, blankLines, badLines, passed, passedAll, hits } = summary;
  return {
    lines,
    molecules,
    blankLines,
    badLines: { count: badLines, first: firstBad, ...(bad && { uri: bad.uri }) },
    passed: { ...passed, all: passedAll },
    hits,
    best: best.map((hit, index) => ({
      ...hit,
      druglikeness: druglikeness[index] as number,
      logS: logS[index] as number,
      risks: risks[index] as Output['best'][number]['risks'],
    })),
    table,
    chunks: { total: chunks.length, takenOver },
  };
}
