/**
 * requestState: the state between a call that ends with a question and its retry (specs: 2026-07-28 basic/patterns/mrtr, "Server
 * Requirements"). It is sealed, and valid only for the same call by the same principal.
 */
import type { ProtocolError } from '@modelcontextprotocol/server';
import { digestOf } from '../../operations/token.js';
import { sealOf, type Seal } from '../../platform/home/seal.js';
import { invalidParams } from '../call/protocol-error.js';

/** A day, since people may take long to answer. */
const VALID_MS = 24 * 3600 * 1000;

export type CallState =
  /** Nothing has started. `given` has the user's arguments so far. */
  | { at: 'asking'; given: Record<string, unknown> }
  /** The call waits for an operation. `keys` are the asked questions'. */
  | { at: 'waiting'; token: string; keys: string[] };

interface Sealed {
  principal: string;
  argumentsDigest: string;
  /** Epoch milliseconds. Checked after unsealing, so the error can name the token. */
  validUntil: number;
  state: CallState;
}

export class RequestStates {
  readonly #seal: Seal<Sealed>;

  constructor(
    private readonly principal: string,
    private readonly secret: Buffer,
  ) {
    this.#seal = sealOf<Sealed>(secret, 'request state');
  }

  write(name: string, args: Record<string, unknown>, state: CallState): string {
    return this.#seal.seal({
      principal: this.principal,
      argumentsDigest: digestOf(name, args, this.secret),
      validUntil: Date.now() + VALID_MS,
      state,
    });
  }

  /** @throws ProtocolError -32602 for a state that belongs to another call, was changed, or has expired */
  read(name: string, args: Record<string, unknown>, text: unknown): CallState {
    const sealed = typeof text === 'string' ? this.#seal.open(text) : undefined;
    const isOfCall =
      sealed?.principal === this.principal && sealed.argumentsDigest === digestOf(name, args, this.secret);
    if (!sealed || !isOfCall) {
      throw invalid(
        'Invalid requestState: expected the unchanged requestState from the answer to this call, with the same arguments',
      );
    }
    if (sealed.validUntil < Date.now()) throw outdated(sealed.state);
    return sealed.state;
  }
}

function outdated(state: CallState): ProtocolError {
  if (state.at === 'asking')
    return invalid('Outdated requestState: repeat the call without it. Nothing was started.');
  const { token } = state;
  return invalid(
    `Outdated requestState. The operation continues under the token ${token}: ` +
      `read it with operation_get ${JSON.stringify({ token })}, and answer it with operation_answer.`,
    { token },
  );
}

function invalid(message: string, data: object = {}): ProtocolError {
  return invalidParams(message, {
    reason: 'invalid_request_state',
    ...data,
  });
}
