import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { log, saveArtifact } from 'longhaul/activity';

export async function countSite(site: number): Promise<void> {
  log.info('site counted', { site });
}

export async function writeReport(sites: number, surveyor: string): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'survey-')), 'report.txt');
  await writeFile(
    path,
    `${sites} sites, by ${surveyor}, in ${process.env['SURVEY_REGION'] ?? 'no region'}\n`,
  );
  return (await saveArtifact(path)).uri;
}
