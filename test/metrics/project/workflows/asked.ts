import { requestInput } from 'longhaul/workflow';

const SCHEMA = {
  type: 'object',
  properties: { proceed: { type: 'boolean' } },
  required: ['proceed'],
} as const;

export async function asked() {
  const answer = await requestInput(SCHEMA, 'Proceed?');
  return { action: answer.action };
}
