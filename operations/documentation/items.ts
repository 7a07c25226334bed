/**
 * The ten things that every tool publishes about itself, so that nobody has to guess how a long call is started, followed
 * and ended. Models read little but a tool's description, so there each is told in its shortest true form.
 */

/** In the order in which they are told, with their names for people. */
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

/** All ten, as text. */
export type Documentation = Record<Item, string>;

/** Something that an author has left out, so that one of the ten can't be told. */
export interface Gap {
  item: Item;
  /** Which field of the definition. */
  field: string;
  /** What it should say. */
  expected: string;
  /** What it says, if it isn't missing. */
  got?: string;
}

/** A call, and what it gives in the end. */
export interface ToolExample {
  input: Record<string, unknown>;
  /** Undefined when nobody can tell. */
  output?: unknown;
}

/** What the description of a tool is put together from. */
export interface DescriptionParts {
  /** What the tool does, in a sentence or two. */
  does: string;
  /** When a model should choose it, and when not. */
  useWhen?: string;
  /** What comes back. */
  returns?: string;
}
