/** The tables of keys in docs/bring-your-own.md. */
import { keyTable } from '../pipelines/reference.js';
import { LEVELS } from './schema.js';

export function toolKeyTables(): string {
  return Object.entries(LEVELS)
    .map(([path, schema]) => `### ${path === '' ? 'The file' : `\`${path}\``}\n\n${keyTable(schema)}`)
    .join('\n\n');
}
