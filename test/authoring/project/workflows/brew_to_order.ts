import { cleanup, stage } from 'longhaul/workflow';

/** More than the runtime checks. */
const LARGE_CHARACTERS = 5 * 1024 ** 2;

export async function brew_to_order({ result }: { result: unknown }): Promise<unknown> {
  cleanup(async (reason) => stage(`cleaned up: ${reason}`));
  if (result === 'nothing') return undefined;
  if (result === 'large') return { cups: 'x'.repeat(LARGE_CHARACTERS) };
  return result === 'a date' ? { cups: 1, at: new Date(0) } : result;
}
