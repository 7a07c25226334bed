import { ApplicationFailure, proxyActivities, sleep } from '@temporalio/workflow';
import { cleanup, progress, requestInput } from 'longhaul/workflow';
import type * as activities from '../activities/steered.js';
import { answer } from '../tools/steered.js';

interface Input {
  units: number;
  questions: number;
  areAtOnce: boolean;
  ends: 'completed' | 'failed';
  cleanupMs: number;
}

const { count } = proxyActivities<typeof activities>({ startToCloseTimeout: '1m' });

export async function steered({ units, questions, areAtOnce, ends, cleanupMs }: Input) {
  progress({ total: units + questions });
  if (cleanupMs > 0) cleanup(() => sleep(cleanupMs));
  if (units > 0) await count(units);
  let answered = 0;
  const ask = async (number: number) => {
    const given = await requestInput(answer, `Question ${number} of ${questions}`);
    answered += 1;
    progress({ progress: units + answered });
    return given.action === 'accept' ? given.content.value : ('declined' as const);
  };
  const numbers = Array.from({ length: questions }, (_, index) => index + 1);
  const answers: Awaited<ReturnType<typeof ask>>[] = [];
  if (areAtOnce) answers.push(...(await Promise.all(numbers.map(ask))));
  else for (const number of numbers) answers.push(await ask(number));
  if (ends === 'failed') throw ApplicationFailure.nonRetryable('it was to fail', 'ToFail');
  return { answers };
}
