import { ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import { log, partial, progress, requestInput, stage } from 'longhaul/workflow';
import type { ToolInput, ToolOutput } from 'longhaul';
import type * as activities from '../activities/survey.js';
import type tool from '../tools/survey.js';
import { approval } from '../tools/survey.js';

const { countSite, writeReport } = proxyActivities<typeof activities>({ startToCloseTimeout: '1m' });

export async function survey({
  sites,
  surveyor,
  end,
}: ToolInput<typeof tool>): Promise<ToolOutput<typeof tool>> {
  stage('count');
  for (let site = 1; site <= sites; site += 1) {
    await countSite(site);
    progress({ progress: site, total: sites });
    partial({ counted: site });
  }
  log.info('counted', { sites });
  if (end === 'fail') throw ApplicationFailure.nonRetryable('the survey is void', 'SurveyVoid');
  stage('approve');
  const answer = await requestInput(approval, `${sites} sites are counted. Approve?`);
  return {
    approved: answer.action === 'accept' && answer.content.approve,
    uri: await writeReport(sites, surveyor),
  };
}
