import { z } from 'zod';
import { defineTool } from 'longhaul';

/** Hybrid: clients without operation tokens wait for it. */
export default defineTool({
  name: 'expensive_analysis',
  description: { does: 'Analyzes a dataset.' },
  input: z.object({
    dataset: z.string(),
    seconds: z.number().min(0).max(3600).default(0),
    ledger: z.string().optional().describe('File that each run appends a line to.'),
  }),
  output: z.object({ dataset: z.string(), rows: z.number() }),
  toText: ({ dataset, rows }) => `${dataset} has ${rows} rows`,
  wait: true,
  deadlineSeconds: 3600,
  estimate: { seconds: 20 },
});
