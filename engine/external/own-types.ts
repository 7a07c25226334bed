/** Runs that belong to Longhaul: operations, their parts, and its own services. */
import { DIRECTORY_WORKFLOW, INBOX_WORKFLOW } from '../../operations/wire/mailbox-workflows.js';
import { NEXUS_TOOLS_WORKFLOW } from '../../operations/wire/nexus-call.js';
import { QUEUE_WORKFLOW } from '../../operations/wire/queue-wire.js';
import { PART_MEMO, START_MEMO } from '../../operations/wire/index.js';
import { DELETION_TYPE } from '../../platform/temporal/deletions.js';
import type { RunInfo } from '../list/current-runs.js';

const SERVICE_TYPES: readonly string[] = [
  DIRECTORY_WORKFLOW,
  INBOX_WORKFLOW,
  QUEUE_WORKFLOW,
  DELETION_TYPE,
  NEXUS_TOOLS_WORKFLOW,
];

/** Whether a run is an operation, a part of one, or a service such as the mailbox. Other child workflows have no mark. */
export function isLonghauls({ type, memo }: RunInfo): boolean {
  const keys = Object.keys(memo?.fields ?? {});
  return SERVICE_TYPES.includes(type?.name ?? '') || keys.includes(START_MEMO) || keys.includes(PART_MEMO);
}
