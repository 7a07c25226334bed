/** Creates Longhaul's search attributes in a namespace. */
import { SEARCH_ATTRIBUTES } from '../operations/wire.js';

/** `Keyword` of temporal.api.enums.v1.IndexedValueType. */
const KEYWORD = 2;

export const SEARCH_ATTRIBUTE_NAMES: readonly string[] = Object.values(SEARCH_ATTRIBUTES);

/** The methods used of Temporal's operator service, from any kind of connection. */
interface OperatorService {
  listSearchAttributes(request: {
    namespace: string;
  }): Promise<{ customAttributes?: Record<string, unknown> | null }>;
  addSearchAttributes(request: {
    namespace: string;
    searchAttributes: Record<string, number>;
  }): Promise<unknown>;
}

/** Longhaul's search attributes that are missing in the namespace. */
export async function missingSearchAttributes(
  operator: OperatorService,
  namespace: string,
): Promise<string[]> {
  const { customAttributes } = await operator.listSearchAttributes({ namespace });
  return SEARCH_ATTRIBUTE_NAMES.filter((name) => !(name in (customAttributes ?? {})));
}

/**
 * Creates the missing search attributes; fails where Temporal denies it.
 *
 * @returns whether any was missing
 */
export async function addSearchAttributes(operator: OperatorService, namespace: string): Promise<boolean> {
  const missing = await missingSearchAttributes(operator, namespace);
  if (missing.length === 0) return false;
  const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]));
  await operator.addSearchAttributes({ namespace, searchAttributes });
  return true;
}
