/** Schemas of SEP-1391 requests. */
import { z } from 'zod';
import { LonghaulError } from '../../operations/errors.js';
import { assertClientToken, isToken, TOKEN_FORM } from '../../operations/token.js';
import { expected, keepAliveSchema, parseParams } from '../call/params.js';
import { operationTokenOf } from '../json/message-problem.js';
import { invalidParams } from '../call/protocol-error.js';

/**
 * A call's `operation` (SEP-1391, "Modified Tool Call Request"). keepAlive is in seconds; null means as long as possible. Strict,
 * unlike other params: with a misspelt `token` the work would start under a generated one.
 */
const operationField = z.strictObject(
  {
    token: z.string(expected('a text')).optional(),
    keepAlive: keepAliveSchema.optional(),
  },
  expected('an object with token and keepAlive, both optional'),
);

const tokenParams = z.looseObject({
  token: z.string().refine(isToken, `expected ${TOKEN_FORM}`),
});

export type OperationField = z.output<typeof operationField>;

/** @throws ProtocolError -32602 that names the malformed or unknown field */
export function parseOperationField(field: unknown): OperationField {
  const parsed = parseParams(operationField, field === undefined ? {} : field, 'params.operation');
  if (parsed.token === undefined) return parsed;
  try {
    assertClientToken(parsed.token);
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    throw invalidParams(`params.operation.${error.message}`);
  }
  return parsed;
}

/** @throws ProtocolError -32602, also when `_operation` names another operation */
export function parseToken(params: unknown): string {
  const { token } = parseParams(tokenParams, params);
  const associated = operationTokenOf(params);
  if (associated === undefined || associated === token) return token;
  throw invalidParams(
    `params._operation.token: expected the same token as params.token; got ${JSON.stringify(associated)}`,
  );
}
