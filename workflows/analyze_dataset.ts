/** analyze_dataset: inspect, profile in batches, query, and write the artifact, asking first when it is large. */
import { proxyActivities } from '@temporalio/workflow';
import type * as activities from '../activities/analyze_dataset/index.js';
import type {
  AnalyzeDatasetInput,
  AnalyzeDatasetOutput,
  ColumnProfile,
} from '../tools/analyze_dataset/index.js';
import { writeArtifactQuestion } from '../tools/analyze_dataset/question.js';
import { partial, progress, requestInput, stage, workSize } from './runtime/index.js';

const dataset = proxyActivities<typeof activities>({
  startToCloseTimeout: '6h',
  retry: { maximumAttempts: 5 },
});

const MB = 1_000_000;

export async function analyze_dataset(input: AnalyzeDatasetInput): Promise<AnalyzeDatasetOutput> {
  const { profile: wantsProfile, artifact: wantsArtifact, ask_over_mb: askOverMb, ...query } = input;
  stage('inspect');
  const file = await dataset.inspectDataset(query.path, query);
  // A server that can't see the file learns its size only from here.
  workSize(file.bytes);
  const batches = wantsProfile ? file.profileBatches : [];
  progress({ total: batches.flat().length + 1 + (wantsArtifact ? 1 : 0) });

  const profile: ColumnProfile[] = [];
  for (const batch of batches) {
    stage('profile');
    profile.push(...(await dataset.profileDatasetColumns(query.path, batch, file.reading)));
    partial({ profile });
  }

  stage('query');
  const { columns, rows, rowCount, notes } = await dataset.queryDataset(query, file.reading);
  const output: AnalyzeDatasetOutput = {
    file: {
      path: query.path,
      format: file.format,
      bytes: file.bytes,
      row_count: file.rowCount,
      columns: file.columns,
    },
    columns,
    rows,
    row_count: rowCount,
    ...(wantsProfile ? { profile } : {}),
    notes,
  };
  if (!wantsArtifact) return output;

  stage('artifact');
  partial(output);
  const { estimatedBytes } = await dataset.estimateDatasetArtifact(rowCount, file);
  if (estimatedBytes > askOverMb * MB) {
    const size =
      estimatedBytes < MB
        ? `${Math.ceil(estimatedBytes / 1000)} kB`
        : `${(estimatedBytes / MB).toFixed(1)} MB`;
    const message = `The whole result has ${rowCount} rows, about ${size} as a Parquet file. Write it?`;
    const answer = await requestInput(writeArtifactQuestion, message);
    if (answer.action === 'decline' || !answer.content['write']) {
      return { ...output, notes: [...output.notes, 'The Parquet file was not written, as answered.'] };
    }
  }
  const { uri, bytes, rowCount: written } = await dataset.writeDatasetArtifact(query, file.reading);
  return { ...output, artifact: { uri, bytes, row_count: written } };
}
