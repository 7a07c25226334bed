import { requestInput } from 'longhaul/workflow';

export async function ask_for_pattern({ pattern }: { pattern: string }) {
  const schema = { type: 'object', properties: { text: { type: 'string', pattern } }, required: ['text'] };
  return await requestInput(schema, 'Which text?');
}
