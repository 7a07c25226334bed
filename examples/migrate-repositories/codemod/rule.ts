import type { CallExpression, NewExpression } from 'ts-morph';

/** Replaces a range of a file's text. Ranges are small, so that edits inside each other's arguments don't overlap. */
export interface Edit {
  from: number;
  to: number;
  text: string;
}

/** Edits of one place, or the reason why a person has to look at it. */
export type Verdict = { edits: Edit[] } | { left: string };

export interface Rule {
  /** API that it replaces, as `nodeApi` names it. */
  apis: readonly string[];
  /** Decides about a call of the API. It leaves a place alone unless the result is sure to be the same. */
  migrate(call: CallExpression | NewExpression, api: string): Verdict;
}
