import { isCancellation, sleep } from '@temporalio/workflow';
import { cleanup, partial, stage } from 'longhaul/workflow';

export async function cleaned(): Promise<object> {
  const ended: string[] = [];
  const note = (what: string) => {
    ended.push(what);
    partial({ ended });
  };
  cleanup(async () => {
    await sleep('1s');
    note('first');
  });
  cleanup(async () => {
    try {
      await sleep('1h');
    } catch (error) {
      if (isCancellation(error)) note('second, cancelled');
      throw error;
    }
  });
  cleanup(async () => note('third'));
  stage('works');
  await sleep('1h');
  return {};
}
