import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'chatter',
  description: { does: 'Logs from its workflow, its activities and its child workflows.' },
  input: z.object({
    lines: z.number().int().default(1).describe('How many lines each speaker logs.'),
    speakers: z.number().int().default(1).describe('How many activities log at once.'),
    pauseMs: z.number().default(0).describe('Pause between two lines, in milliseconds.'),
    part: z.string().optional().describe('Name of a child workflow that logs too.'),
    gate: z.string().optional().describe('A file: the workflow ends once it is there.'),
    odd: z.boolean().default(false).describe('Log values that have no JSON.'),
    wide: z.number().int().default(0).describe('Characters to add to each line.'),
  }),
  output: z.object({ lines: z.number() }),
  estimate: { seconds: 5 },
});
