import { defineTool } from 'longhaul';

/** A question with a field of each kind that a form may have. */
export const survey = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2 },
    age: { type: 'integer', minimum: 0 },
    member: { type: 'boolean' },
    size: {
      oneOf: [
        { const: 's', title: 'Small' },
        { const: 'l', title: 'Large' },
      ],
    },
    toppings: { type: 'array', items: { enum: ['nuts', 'cream', 'sauce'] } },
    note: { type: 'string' },
  },
  required: ['name', 'age', 'member', 'size', 'toppings'],
};

export default defineTool({
  name: 'survey',
  description: { does: 'Asks for a bit of everything.' },
  input: { type: 'object', properties: {} },
  toText: (output) => JSON.stringify(output),
  estimate: { seconds: 1 },
  questions: { survey },
});
