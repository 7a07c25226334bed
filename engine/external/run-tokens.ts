/**
 * Sealed tokens, for operations whose token can't give the workflow ID: the author chose the ID, the workflow is in another namespace, or
 * Longhaul didn't start it. A token names the execution. It leaves out what its readers know: the principal, and the tool's namespace.
 */
import { createHash } from 'node:crypto';
import { isToken, workflowIdOf } from '../../operations/token.js';
import type { Tool } from '../../operations/tool/index.js';
import { tokenOf, type StartMemo } from '../../operations/wire/index.js';
import { PackedSeal } from '../../platform/home/seal.js';

const PREFIX = 'run.';
/** Bytes of a UUID that a token keeps: enough to distinguish the runs and starts of one workflow ID. */
const ID_BYTES = 12;
const TOOL_BYTES = 4;
/** First byte of a packed run: which fields follow. */
const KIND = { unnamed: 0, started: 1, adopted: 2 };

export interface SealedRun {
  /** Default: the connected namespace. */
  namespace?: string;
  workflowId: string;
  /** ID in the start memo, if Longhaul has started the operation. */
  startId?: string;
  /** First run of an adopted execution; continue-as-new, retry and reset keep it. */
  firstRunId?: string;
  /** Tool of an adopted run. */
  tool?: string;
}

/** Place of a token's run. Its IDs are cut, see {@link isSameId}. The tool is missing if no tool adopts such runs any more. */
export interface Located {
  namespace: string | undefined;
  workflowId: string;
  run?: SealedRun;
}

/** @param id of a token @param whole of Temporal or a memo */
export function isSameId(id: string | undefined, whole: string | undefined): boolean {
  return id === undefined || whole === undefined ? id === whole : packedId(id).equals(packedId(whole));
}

/** Whether a text may be a sealed token. */
export function isSealed(token: string): boolean {
  return token.startsWith(PREFIX);
}

export class RunTokens {
  readonly #seal: PackedSeal;

  /** @param tools those that adopted runs may belong to: needed to locate them */
  constructor(
    private readonly secret: Buffer,
    private readonly tools: { values(): Iterable<Tool> } = [],
  ) {
    this.#seal = new PackedSeal(secret, 'run');
  }

  tokenOf(principal: string, run: SealedRun): string {
    return PREFIX + this.#seal.seal(packed(run), principal);
  }

  /** Token of an operation that Longhaul has started in this namespace. */
  ofStart(workflowId: string, { principal, hasSealedToken, startId }: StartMemo): string {
    if (!hasSealedToken) return tokenOf(principal, workflowId);
    return this.tokenOf(principal, { workflowId, startId });
  }

  /** Token of an operation whose start memo can't be read: a sealed one where the workflow ID isn't of the usual form. */
  ofUnreadable(workflowId: string, principal: string): string {
    const token = tokenOf(principal, workflowId);
    const isUsual = isToken(token) && workflowIdOf(principal, token, this.secret) === workflowId;
    return isUsual ? token : this.tokenOf(principal, { workflowId });
  }

  /** @throws LonghaulError `not_found` for a text that is no token */
  locate(principal: string, token: string): Located {
    const bytes = isSealed(token) ? this.#seal.open(token.slice(PREFIX.length), principal) : undefined;
    if (!bytes) return { namespace: undefined, workflowId: workflowIdOf(principal, token, this.secret) };
    const run = this.#unpacked(bytes);
    return { namespace: run.namespace, workflowId: run.workflowId, run };
  }

  #unpacked(bytes: Buffer): SealedRun {
    const [kind] = bytes;
    const rest = bytes.subarray(1);
    if (kind === KIND.unnamed) return placed(rest);
    const id = rest.toString('hex', 0, ID_BYTES);
    if (kind === KIND.started) return { ...placed(rest.subarray(ID_BYTES)), startId: id };
    const tag = rest.subarray(ID_BYTES, ID_BYTES + TOOL_BYTES);
    const tool = [...this.tools.values()].find(({ name, external }) => external && tagOf(name).equals(tag));
    const workflowId = rest.toString('utf8', ID_BYTES + TOOL_BYTES);
    return { namespace: tool?.external?.namespace, workflowId, firstRunId: id, tool: tool?.name };
  }
}

function packed({ workflowId, namespace = '', startId, firstRunId, tool = '' }: SealedRun): Buffer {
  if (firstRunId !== undefined)
    return Buffer.concat([
      ...[Buffer.of(KIND.adopted), packedId(firstRunId), tagOf(tool)],
      Buffer.from(workflowId),
    ]);
  const place = Buffer.from(`${namespace}\0${workflowId}`);
  if (startId === undefined) return Buffer.concat([Buffer.of(KIND.unnamed), place]);
  return Buffer.concat([Buffer.of(KIND.started), packedId(startId), place]);
}

/** Namespace and workflow ID. The former has no NUL. */
function placed(bytes: Buffer): SealedRun {
  const text = bytes.toString();
  const end = text.indexOf('\0');
  return { namespace: text.slice(0, end) || undefined, workflowId: text.slice(end + 1) };
}

function packedId(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex').subarray(0, ID_BYTES);
}

/** Stands for a tool's name, which may be long. */
function tagOf(tool: string): Buffer {
  return createHash('sha256').update(tool).digest().subarray(0, TOOL_BYTES);
}
