/** The declared output that counts for an operation: fixed at its start, whatever the tool declares later. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../operations/json/canonical-json.js';
import type { JsonSchema } from '../../operations/tool/schema.js';
import { OUTPUT_HEADER, type DeclaredOutput } from '../../operations/wire/index.js';
import { withHeader } from '../temporal/single-headers.js';

/** Larger schemas aren't sent along, since each start's history would keep a copy. */
const SENT_CHARACTERS = 64 * 1024;

/** For the start memo, which lists carry: a digest in place of the schema. */
export function declaredOutput(schema: JsonSchema | undefined): DeclaredOutput {
  if (!schema) return {};
  return { digest: createHash('sha256').update(canonicalJson(schema)).digest('base64url').slice(0, 32) };
}

/** Sends the schema with a start, for the runtime and for later readers. */
export function withDeclaredOutput<T>(schema: JsonSchema | undefined, start: () => Promise<T>): Promise<T> {
  const isSent = schema && JSON.stringify(schema).length <= SENT_CHARACTERS;
  return isSent ? withHeader(OUTPUT_HEADER, schema, start) : start();
}
