import { defineTool } from 'longhaul';

/** Arguments of every kind; two are named like flags of Longhaul's own. */
export default defineTool({
  name: 'echo_back',
  description: { does: 'Gives its arguments back.' },
  input: {
    type: 'object',
    properties: {
      text: { type: 'string', description: 'What to say.' },
      count: { type: 'integer', minimum: 1, maximum: 9, default: 2 },
      ratio: { type: 'number' },
      isLoud: { type: 'boolean' },
      color: { enum: ['red', 'green'] },
      tag_list: { type: 'array', items: { type: 'string' } },
      options: { type: 'object' },
      json: { type: 'string' },
      version: { type: 'string' },
    },
    required: ['text'],
    additionalProperties: false,
  },
  toText: (output) => JSON.stringify(output),
  taskSupport: 'forbidden',
  estimate: { seconds: 1 },
});
