import { z } from 'zod';
import { defineTool } from 'longhaul';

export const approval = z.object({ go: z.boolean() });

export default defineTool({
  name: 'migrate_code',
  description: { does: 'Migrates packages once somebody approves each.' },
  input: z.object({ packages: z.array(z.string()).min(1) }),
  output: z.object({ migrated: z.array(z.string()) }),
  questions: { approval },
  estimate: { seconds: 1 },
});
