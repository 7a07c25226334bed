import { z } from 'zod';
import { agentId, messageId } from './fields.js';
import { defineMailboxTool } from './mailbox-tool.js';

export const reportProgress = defineMailboxTool({
  name: 'report_progress',
  title: 'Report progress',
  description: 'Shows the sender how far you are with a message, and keeps it yours. At most every 10 s.',
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  input: z.strictObject({
    agent_id: agentId,
    message_id: messageId,
    text: z.string(),
    fraction: z.number().optional().describe('0 to 1'),
  }),
  async run(engine, _context, { agent_id, message_id, text, fraction }) {
    const isRecorded = await engine.mailbox.report(engine.principal, agent_id, message_id, {
      text,
      fraction,
    });
    return isRecorded ? { ok: true } : { skipped: true };
  },
});
