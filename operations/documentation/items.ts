/**
 * The ten items that every tool documents. Lists show the tool's own items, and the server's instructions what holds for every tool. The
 * resource `longhaul://tools/{tool}`, `GET /v1/tools/{tool}` and `longhaul tools NAME` show all ten.
 */

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

/** A field that an author left out, so an item can't be documented. */
export interface Gap {
  item: Item;
  field: string;
  expected: string;
  got?: string;
}

export interface ToolExample {
  input: Record<string, unknown>;
  output?: unknown;
}

export interface DescriptionParts {
  /** Purpose of the tool, in one or two sentences. */
  does: string;
  /** When a model should choose it, and when not. */
  useWhen?: string;
  returns?: string;
}
