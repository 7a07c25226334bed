import { cleanup, stage } from 'longhaul/workflow';

export async function brew_to_order({ result }: { result: unknown }): Promise<unknown> {
  cleanup(async (reason) => stage(`cleaned up: ${reason}`));
  if (result === 'nothing') return undefined;
  return result === 'a date' ? { cups: 1, at: new Date(0) } : result;
}
