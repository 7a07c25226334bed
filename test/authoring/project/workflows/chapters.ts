import { continueAsNew } from '@temporalio/workflow';
import { partial, progress, requestInput, stage } from 'longhaul/workflow';

const question = { type: 'object', properties: { go: { type: 'boolean' } } };

export async function chapters(input: { chapter: number }): Promise<{ chapters: number }> {
  if (input.chapter === 1) {
    stage('first chapter');
    progress({ progress: 1, total: 2 });
    partial({ read: [1] });
  }
  await requestInput(question, `Turn the page of chapter ${input.chapter}?`);
  if (input.chapter === 1) await continueAsNew<typeof chapters>({ chapter: 2 });
  progress({ progress: 2 });
  return { chapters: input.chapter };
}
