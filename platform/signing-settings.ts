/** Settings of what is accepted from Temporal without a signature of Longhaul. */
import { z } from 'zod';
import { yesOrNo } from './setting-types.js';

export const signingSettingsShape = {
  /**
   * Whether the worker runs activities of workflows that no server of Longhaul has started and `longhaul sign` hasn't signed for:
   * `refuse` or `allow`. Default: `refuse`.
   */
  unsignedStarts: z.enum(['refuse', 'allow']),
  /**
   * Whether operators may answer questions with Temporal's own commands, without a signature. Questions with approvers or
   * four eyes never accept such answers. Default: true.
   */
  operatorAnswers: yesOrNo,
};
