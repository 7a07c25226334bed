import { z } from 'zod';
import { defineTool } from 'longhaul';

export default defineTool({
  name: 'follow_check',
  description: {
    does: 'Follows a background check that runs at the checking company already, to its end.',
    useWhen:
      'Use it for a check that somebody else has started. A client that chooses tokens takes the ARN: then one name finds the check everywhere.',
    returns: 'whether the vendor is clear, and what was found.',
  },
  input: z.object({
    arn: z
      .string()
      .regex(/^arn:checks:vendor\/[\w-]{1,64}$/)
      .describe('Name of the check, e.g. arn:checks:vendor/7f3a.'),
  }),
  output: z.object({ clear: z.boolean(), finding: z.string().optional() }),
  deadlineSeconds: 12 * 3600,
  estimate: { seconds: 10 },
  cleanup: 'nothing: the check runs on, since this operation has not started it.',
  retryableErrors: [],
  example: { input: { arn: 'arn:checks:vendor/7f3a' }, output: { clear: true } },
});
