/** Names of a start: the token, the workflow ID, and the ID that sets it apart from other starts of that workflow ID. */
import { randomUUID } from 'node:crypto';
import { LonghaulError } from '../../operations/errors.js';
import { argumentsInId, idOf, type ExternalWorkflow } from '../../operations/wire/external-workflow.js';
import { assertClientToken, newToken, tokenOfIdempotencyKey, workflowIdOf } from '../../operations/token.js';
import type { Tool } from '../../operations/tool/index.js';
import { tenantPrefixOf } from '../../operations/principal.js';
import { RunTokens } from '../external/run-tokens.js';

export interface StartOptions {
  /** The caller's own token. Default: random. */
  token?: string;
  /** Whether the token must be unused, even by a call with the same arguments. Default: false. */
  isTokenNew?: boolean;
  /** Starts with the same key start the operation once. */
  idempotencyKey?: string;
  /** How long after closing the result can be read, in seconds; null for as long as possible. Default: the tool's. */
  keepAliveSeconds?: number | null;
  session?: string;
  /** Progress token for its notifications. */
  progressToken?: string | number;
  /** ID of the call, if cancelling the call should cancel the work. */
  requestId?: string | number;
}

/** Longest workflow ID in bytes: Temporal's databases hold 255 characters. */
const LONGEST_WORKFLOW_ID_BYTES = 255;

interface NamedStart {
  principal: string;
  tool: Tool;
  args: Record<string, unknown>;
  options: StartOptions;
}

/** Whether an external workflow's operations have sealed tokens. */
export function hasSealedToken(external: ExternalWorkflow | undefined): external is ExternalWorkflow {
  return external !== undefined && (external.id !== undefined || external.namespace !== undefined);
}

/** Token and workflow ID of a start, and the ID that sets it apart from other starts of that workflow ID. */
export function nameStart(
  start: NamedStart,
  secret: Buffer,
): { token: string; workflowId: string; startId?: string } {
  const { principal, tool, args, options } = start;
  const { external } = tool;
  if (!hasSealedToken(external)) {
    const token = tokenOfStart(start, secret);
    const startId = options.isTokenNew ? randomUUID() : undefined;
    return { token, workflowId: workflowIdOf(principal, token, secret), startId };
  }
  if (options.token !== undefined)
    throw new LonghaulError(
      'invalid_arguments',
      `token: operations of "${tool.name}" get their tokens from the server; expected none, got ${JSON.stringify(options.token)}`,
    );
  const { idempotencyKey } = options;
  const startId =
    idempotencyKey === undefined
      ? randomUUID()
      : tokenOfIdempotencyKey(principal, tool.name, idempotencyKey, secret);
  const workflowId =
    external.id === undefined
      ? workflowIdOf(principal, tokenOfStart(start, secret), secret)
      : namedWorkflowId(external.id, tool.name, { principal, args });
  const { namespace } = external;
  const token = new RunTokens(secret).tokenOf(principal, { namespace, workflowId, startId });
  return { token, workflowId, startId };
}

/**
 * The workflow ID by the tool's template, with the caller's tenant: `acme/refund-o-17`. Other tenants have other IDs, so no start reveals
 * or takes their names.
 *
 * @throws LonghaulError `invalid_arguments` for a name that Temporal or its database refuses
 */
function namedWorkflowId(
  template: string,
  tool: string,
  { principal, args }: Pick<NamedStart, 'principal' | 'args'>,
): string {
  const name = idOf(template, args);
  const prefix = tenantPrefixOf(principal);
  const longestBytes = LONGEST_WORKFLOW_ID_BYTES - Buffer.byteLength(prefix);
  const problem =
    name === ''
      ? 'an empty text'
      : Buffer.byteLength(name) > longestBytes
        ? `${Buffer.byteLength(name)} bytes`
        : /[\p{Cc}\p{Cs}]/u.test(name)
          ? 'control characters or lone surrogates'
          : undefined;
  if (problem === undefined) return prefix + name;
  throw new LonghaulError(
    'invalid_arguments',
    `${argumentsInId(template).join(', ')}: "${tool}" makes its workflow ID of them, ${template}; expected 1 to ${longestBytes} ` +
      `bytes without control characters, got ${problem}`,
  );
}

function tokenOfStart({ principal, tool, options }: NamedStart, secret: Buffer): string {
  if (options.token !== undefined) {
    assertClientToken(options.token);
    return options.token;
  }
  if (options.idempotencyKey === undefined) return newToken();
  return tokenOfIdempotencyKey(principal, tool.name, options.idempotencyKey, secret);
}
