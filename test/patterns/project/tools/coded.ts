import { defineTool } from 'longhaul';

export default defineTool({
  name: 'coded',
  description: { does: 'Gives back a code.' },
  input: {
    type: 'object',
    properties: {
      code: { type: 'string', pattern: '^(a+)+$' },
      link: { type: 'string', format: 'url' },
    },
    patternProperties: { '^(b+)+$': { type: 'integer' } },
    propertyNames: { pattern: '^([a-z]+)+$' },
  },
  estimate: { seconds: 1 },
});
