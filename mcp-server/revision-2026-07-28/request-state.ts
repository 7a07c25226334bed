/**
 * requestState: what the server would have to remember between a call that ends with a question and its retry (specs:
 * 2026-07-28 basic/patterns/mrtr, "Server Requirements"). It is sealed, and good only for the same call by the same
 * principal.
 */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { digestOf } from '../../operations/token.js';
import { sealOf, type Seal } from '../../platform/seal.js';

/** For how long a retry is taken, in milliseconds: a day, as people answer when they come to it. */
const VALID_MS = 24 * 3600 * 1000;

/** Where a call was when it ended with a question. */
export type CallState =
  /** Nothing has started; arguments that the person has given so far. */
  | { at: 'asking'; given: Record<string, unknown> }
  /** The operation that the call waits for, and the keys of what was asked. */
  | { at: 'waiting'; token: string; keys: string[] };

interface Sealed {
  principal: string;
  argumentsDigest: string;
  /** Epoch milliseconds. It is looked at only once the seal is open, so that the error can name the token. */
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

  /** @throws ProtocolError -32602 for a state that isn't of this call, was changed, or is outdated */
  read(name: string, args: Record<string, unknown>, text: unknown): CallState {
    const sealed = typeof text === 'string' ? this.#seal.open(text) : undefined;
    const isOfCall =
      sealed?.principal === this.principal && sealed.argumentsDigest === digestOf(name, args, this.secret);
    if (!sealed || !isOfCall) {
      throw invalid(
        'Invalid requestState: expected the one that this same call was answered with, unchanged, with the same arguments',
      );
    }
    if (sealed.validUntil < Date.now()) throw outdated(sealed.state);
    return sealed.state;
  }
}

function outdated(state: CallState): ProtocolError {
  if (state.at === 'asking')
    return invalid('Outdated requestState: make the call anew. Nothing was started.');
  const { token } = state;
  return invalid(
    `Outdated requestState. The operation goes on under the token ${token}: ` +
      `look at it with operation_get ${JSON.stringify({ token })}, and answer it with operation_answer.`,
    { token },
  );
}

function invalid(message: string, data: object = {}): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, {
    reason: 'invalid_request_state',
    ...data,
  });
}
