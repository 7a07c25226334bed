import { make } from '../given-values.js';

export async function giveFromActivity(kind: string): Promise<unknown> {
  return make(kind);
}

export async function takeInActivity(value: unknown): Promise<unknown> {
  return value;
}
