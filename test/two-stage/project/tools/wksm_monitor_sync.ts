import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'wksm_monitor_sync',
  description: { does: 'Sync files to monitor database.' },
  input: z.object({ path: z.string(), recursive: z.boolean().default(false) }),
  output: z.object({ files_processed: z.int(), files_skipped: z.int(), duration_seconds: z.number() }),
  estimate: { seconds: 45 },
});
