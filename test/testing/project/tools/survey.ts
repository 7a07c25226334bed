import { defineTool } from 'longhaul';
import { z } from 'zod';

export const approval = z.object({ approve: z.boolean() });

export default defineTool({
  name: 'survey',
  description: { does: 'Counts the sites of a survey, asks for approval, and leaves a report.' },
  input: z.object({
    sites: z.number().int().min(1),
    surveyor: z.string(),
    end: z.enum(['report', 'fail']).default('report'),
  }),
  output: z.object({ approved: z.boolean(), uri: z.string() }),
  estimate: { seconds: 1 },
  askFor: { surveyor: 'Who surveys?' },
  questions: { approval },
});
