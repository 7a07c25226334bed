/** Approvals with a time limit: nobody's answer is passed on to the next role, and in the end counts as a no. For workflows. */
import { log, requestInput, type RequestInputOptions } from 'longhaul/workflow';
import { approval } from '../tools/onboard_vendor.js';

export interface Decision {
  approved: boolean;
  /** Role that was asked last. */
  role: string;
  comment: string;
}

interface Asked {
  /** Roles in the order in which they are asked. */
  roles: readonly string[];
  /** Time that each of them has. */
  hours: number;
  /** Whether only they may answer, and not the caller who started the operation. */
  isByRole: boolean;
}

export async function approve(question: string, { roles, hours, isByRole }: Asked): Promise<Decision> {
  for (const [level, role] of roles.entries()) {
    const options: RequestInputOptions<{ approve: boolean; comment: string }> = {
      timeoutSeconds: hours * 3600,
      default: { approve: false, comment: '' },
      ...(isByRole ? { approvers: [role], fourEyes: true } : {}),
    };
    const addressed = level === 0 ? `For ${role}` : `For ${role}, since ${roles[level - 1]} did not answer`;
    const answer = await requestInput(approval, `${addressed}: ${question}`, options);
    if (answer.action === 'decline') return { approved: false, role, comment: 'declined' };
    if (!answer.isDefault) return { approved: answer.content.approve, role, comment: answer.content.comment };
    log.warn('nobody answered in time', { role });
  }
  return { approved: false, role: roles.at(-1)!, comment: 'nobody answered in time' };
}
