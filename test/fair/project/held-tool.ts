import { defineTool } from 'longhaul';

/** A tool whose workflow is {@link held}. */
export const heldTool = (
  name: string,
  does: string,
  limits: Pick<Parameters<typeof defineTool>[0], 'queue' | 'priority'> = {},
) =>
  defineTool({
    name,
    description: { does },
    input: {
      type: 'object',
      properties: { folder: { type: 'string' }, name: { type: 'string' } },
      required: ['folder', 'name'],
    },
    estimate: { seconds: 20 },
    questions: {},
    ...limits,
  });
