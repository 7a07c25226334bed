import { defineTool } from 'longhaul';

export default defineTool({
  name: 'blocked_loop',
  description: { does: 'Runs an activity that blocks the event loop, or one beside it.' },
  input: {
    type: 'object',
    properties: {
      activity: { type: 'string', enum: ['crunch', 'neighbour', 'late'] },
      folder: { type: 'string' },
      ms: { type: 'integer' },
      heartbeatSeconds: { type: 'integer' },
    },
    required: ['activity', 'folder'],
  },
  estimate: { seconds: 10 },
});
