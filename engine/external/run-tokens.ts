/**
 * Sealed tokens, for operations whose token can't give the workflow ID: the author chose the ID, the workflow is in another namespace, or
 * Longhaul didn't start it. A token holds the place and the execution.
 */
import { LonghaulError } from '../../operations/errors.js';
import { isToken, workflowIdOf } from '../../operations/token.js';
import { tokenOf, type StartMemo } from '../../operations/wire/index.js';
import { sealOf, type Seal } from '../../platform/home/seal.js';

const PREFIX = 'run.';

export interface SealedRun {
  principal: string;
  /** Default: the connected namespace. */
  namespace?: string;
  workflowId: string;
  /** ID in the start memo, if Longhaul has started the operation. */
  startId?: string;
  /** First run of an adopted execution; continue-as-new, retry and reset keep it. */
  firstRunId?: string;
  tool?: string;
}

export interface Located {
  namespace: string | undefined;
  workflowId: string;
  run?: SealedRun;
}

export class RunTokens {
  readonly #seal: Seal<SealedRun>;

  constructor(private readonly secret: Buffer) {
    this.#seal = sealOf<SealedRun>(secret, 'run', { isStable: true });
  }

  tokenOf(run: SealedRun): string {
    return PREFIX + this.#seal.seal(run);
  }

  /** Token of an operation that Longhaul has started in this namespace. */
  ofStart(workflowId: string, { principal, hasSealedToken, startId }: StartMemo): string {
    if (!hasSealedToken) return tokenOf(principal, workflowId);
    return this.tokenOf({ principal, workflowId, startId });
  }

  /** Token of an operation whose start memo can't be read: a sealed one where the workflow ID isn't of the usual form. */
  ofUnreadable(workflowId: string, principal: string): string {
    const token = tokenOf(principal, workflowId);
    const isUsual = isToken(token) && workflowIdOf(principal, token, this.secret) === workflowId;
    return isUsual ? token : this.tokenOf({ principal, workflowId });
  }

  /** @throws LonghaulError `not_found` for another principal's token, or a text that is no token */
  locate(principal: string, token: string): Located {
    const run = token.startsWith(PREFIX) ? this.#seal.open(token.slice(PREFIX.length)) : undefined;
    if (!run) return { namespace: undefined, workflowId: workflowIdOf(principal, token, this.secret) };
    if (run.principal !== principal) throw new LonghaulError('not_found', 'operation not found');
    return { namespace: run.namespace, workflowId: run.workflowId, run };
  }
}
