import { proxyActivities } from '@temporalio/workflow';
import { log, partial, progress, requestInput, stage, workSize } from 'longhaul/workflow';
import type { ToolInput, ToolOutput } from 'longhaul';
import type * as activities from '../activities/review_diff.js';
import { mergeFindings } from '../lib/merge.js';
import { addedLines, type Finding } from '../lib/review.js';
import type tool from '../tools/review_diff.js';
import { reviewAll } from '../tools/review_diff.js';

const FINDINGS_LIMIT = 500;
/** Batches of an aspect, at most: a diff of a thousand files stays far from Temporal's limit of history. */
const BATCHES = 200;
const BATCH_FILES = 4;

const { readDiff } = proxyActivities<typeof activities>({
  startToCloseTimeout: '5m',
  retry: { maximumAttempts: 5 },
});
/** A missing heartbeat is how a killed worker is noticed. */
const { checkFiles } = proxyActivities<typeof activities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '10s',
  retry: { maximumAttempts: 5 },
});
/** The compiler reads the whole project at once, and doesn't let heartbeats through meanwhile. */
const { checkFiles: checkProject } = proxyActivities<typeof activities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '60s',
  retry: { maximumAttempts: 5 },
});

export async function review_diff(input: ToolInput<typeof tool>): Promise<ToolOutput<typeof tool>> {
  const { folder, diff, aspects, maxFiles } = input;
  stage('read the diff');
  const { files, skipped } = await readDiff(folder, diff);
  const total = files.length + skipped.length;
  let chosen = files;
  if (files.length > maxFiles) {
    stage('ask');
    const question = `${files.length} files are more than ${maxFiles}. Check all, and not only the ${maxFiles} with most added lines?`;
    const answer = await requestInput(reviewAll, question);
    if (answer.action === 'decline' || !answer.content.all) {
      const largest = files.toSorted((a, b) => addedLines(b) - addedLines(a)).slice(0, maxFiles);
      chosen = files.filter((file) => largest.includes(file));
      for (const { path } of files)
        if (!chosen.some((file) => file.path === path)) skipped.push({ file: path, reason: 'left out' });
    }
  }
  workSize(chosen.length * aspects.length);
  progress({ total: chosen.length * aspects.length });

  const findings: Finding[] = [];
  for (const aspect of aspects) {
    stage(aspect);
    const isProject = aspect === 'types';
    const size = isProject ? chosen.length : Math.max(BATCH_FILES, Math.ceil(chosen.length / BATCHES));
    for (let from = 0; from < chosen.length; from += size) {
      const batch = chosen.slice(from, from + size);
      findings.push(...(await (isProject ? checkProject : checkFiles)(folder, aspect, batch)));
      partial({ aspect, checked: from + batch.length, findings: findings.slice(0, FINDINGS_LIMIT) });
    }
    log.info('aspect checked', { aspect, files: chosen.length, findings: findings.length });
  }
  const merged = mergeFindings(findings);
  return {
    files: total,
    checked: chosen.length,
    skipped,
    findings: merged.slice(0, FINDINGS_LIMIT),
    omitted: Math.max(0, merged.length - FINDINGS_LIMIT),
  };
}
