import { z } from 'zod';
import { messageId, timeoutSeconds } from './fields.js';
import { defineMailboxTool } from './mailbox-tool.js';
import { repliesTo, defaultSeconds } from './replies.js';
import { continueBy } from './waiting.js';

export const checkReplies = defineMailboxTool({
  name: 'check_replies',
  title: 'Check replies',
  description:
    'Responses to a message you sent: {"r": by agent, "state": of the others, "progress": what they reported}. nw: the wait timed out. dead_lettered: never acknowledged, see dead_letters.',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    message_id: messageId,
    wait: z.enum(['any', 'all']).optional().describe('Wait until one, or every one, has responded'),
    timeout_seconds: timeoutSeconds,
  }),
  async run(engine, callContext, input) {
    const { message_id, wait, timeout_seconds } = input;
    if (wait) continueBy(callContext, 'check_replies', input, timeout_seconds ?? defaultSeconds(callContext));
    return {
      // The client didn't get the send's result, which had the ID.
      ...(callContext.isContinued ? { id: message_id } : {}),
      ...(await repliesTo(engine, callContext, message_id, wait, timeout_seconds)),
    };
  },
});
