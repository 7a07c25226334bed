/** The question of analyze_dataset, as JSON Schema: zod would be evaluated in each run of the workflow that asks it. */
export const writeArtifactQuestion = {
  type: 'object',
  properties: { write: { default: true, description: 'Write the file?', type: 'boolean' } },
};
