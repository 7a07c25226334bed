import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'brew_to_order',
  description: { does: 'Returns the result that it is given.' },
  input: z.object({ result: z.unknown() }),
  output: z.object({ cups: z.number(), at: z.iso.datetime().optional() }),
  // Throws, or returns no text, as its type forbids.
  toText: (output) => {
    if (output.cups === 13) throw new Error('no thirteen');
    return output as unknown as string;
  },
  estimate: { seconds: 1 },
});
