import { sleep } from '@temporalio/workflow';
import { workSize } from 'longhaul/workflow';

export async function measured(input: { place: string }) {
  workSize(input.place.length);
  await sleep(input.place.length * 500);
  return {};
}
