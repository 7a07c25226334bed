import { log } from 'longhaul/activity';

export async function writeLines(run: number): Promise<void> {
  for (let line = 1; line <= 6; line += 1) log.info(`run ${run}, line ${line}`);
}
