import { report } from 'longhaul/activity';

export async function count(total: number): Promise<number> {
  for (let progress = 1; progress <= total; progress += 1) report({ progress, total });
  return total;
}
