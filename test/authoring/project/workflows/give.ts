import { executeChild, proxyActivities } from '@temporalio/workflow';
import { partial } from 'longhaul/workflow';
import type { ToolInput } from 'longhaul';
import { make } from '../given-values.js';
import type * as activities from '../activities/give.js';
import type tool from '../tools/give.js';

const { giveFromActivity, takeInActivity } = proxyActivities<typeof activities>({
  startToCloseTimeout: '1m',
});

export async function give({ kind, from }: ToolInput<typeof tool>): Promise<unknown> {
  switch (from) {
    case 'workflow':
      return make(kind);
    case 'activity':
      return giveFromActivity(kind);
    case 'argument':
      return takeInActivity(make(kind));
    case 'partial':
      partial(make(kind));
      return null;
    case 'child':
      return executeChild(give, { args: [{ kind, from: 'workflow' }] });
  }
}
