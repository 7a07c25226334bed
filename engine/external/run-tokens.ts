/**
 * Sealed tokens, for operations whose workflow ID can't be the token: those with an ID of the author's choice, in another
 * namespace, or started by somebody else. They hold where the workflow is, and which execution of its ID it is.
 */
import { LonghaulError } from '../../operations/errors.js';
import { workflowIdOf } from '../../operations/token.js';
import { tokenOf, type StartMemo } from '../../operations/wire.js';
import { sealOf, type Seal } from '../../platform/seal.js';

/** Begins the tokens. */
const PREFIX = 'run.';

/** Content of a sealed token. */
export interface SealedRun {
  principal: string;
  /** Missing: the namespace that Longhaul is connected to. */
  namespace?: string;
  workflowId: string;
  /** ID in the start memo of an operation that Longhaul has started. */
  startId?: string;
  /** First run of an adopted execution: continue-as-new, retry and reset keep it. */
  firstRunId?: string;
  /** Tool of an adopted execution. */
  tool?: string;
}

/** Where a token's workflow is. */
export interface Located {
  namespace: string | undefined;
  workflowId: string;
  /** Set if the token is sealed. */
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

  /** @throws LonghaulError `not_found` for another principal's token, or a text that no operation can have as its token */
  locate(principal: string, token: string): Located {
    const run = token.startsWith(PREFIX) ? this.#seal.open(token.slice(PREFIX.length)) : undefined;
    if (!run) return { namespace: undefined, workflowId: workflowIdOf(principal, token, this.secret) };
    if (run.principal !== principal) throw new LonghaulError('not_found', 'operation not found');
    return { namespace: run.namespace, workflowId: run.workflowId, run };
  }
}
