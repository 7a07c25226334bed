import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'brew_to_order',
  description: { does: 'Returns the result that it is given.' },
  input: z.object({ result: z.unknown() }),
  output: z.object({ cups: z.number(), at: z.iso.datetime().optional() }),
  // Returns no text, as its type forbids.
  toText: (output) => output as unknown as string,
  estimate: { seconds: 1 },
});
