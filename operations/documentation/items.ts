/**
 * The ten items that every tool documents, so that nobody has to guess how a long call is started, followed and ended.
 * A tool's description in lists has those that are its own; the server's instructions have what holds for every tool. All ten
 * are in the resource `longhaul://tools/{tool}`, in `GET /v1/tools/{tool}` and in `longhaul tools NAME`.
 */

/** The items in order, with their display names. */
export const ITEMS = {
  operation: 'Operation',
  parameters: 'Parameters',
  states: 'States',
  following: 'Polling and events',
  cancel: 'Cancel',
  timeout: 'Time-out',
  idempotency: 'Idempotency',
  errors: 'Errors',
  rates: 'Rate limits',
  example: 'Example',
} as const;

export type Item = keyof typeof ITEMS;

/** A field that an author has left out, so that one of the items can't be documented. */
export interface Gap {
  item: Item;
  /** Field of the definition. */
  field: string;
  /** Expected value. */
  expected: string;
  /** Present value, if it isn't missing. */
  got?: string;
}

/** Arguments and result of a call. */
export interface ToolExample {
  input: Record<string, unknown>;
  /** Undefined when unknown. */
  output?: unknown;
}

/** The author's parts of a tool's description. */
export interface DescriptionParts {
  /** One or two sentences about what the tool does. */
  does: string;
  /** When a model should choose it, and when not. */
  useWhen?: string;
  /** Description of the result. */
  returns?: string;
}
