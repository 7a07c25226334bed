/**
 * Longhaul's search attributes in a namespace. Any client may ask visibility whether they work. Creating them needs the operator
 * service, which Temporal Cloud and clusters with an authorizer refuse.
 */
import { SEARCH_ATTRIBUTES } from '../../operations/wire/index.js';
import { GRPC, isGrpcError, temporalMessage } from './grpc-errors.js';

/** `Keyword` of temporal.api.enums.v1.IndexedValueType. */
const KEYWORD = 2;

export const SEARCH_ATTRIBUTE_NAMES: readonly string[] = Object.values(SEARCH_ATTRIBUTES);

interface WorkflowService {
  countWorkflowExecutions(request: { namespace: string; query: string }): Promise<unknown>;
}

export interface OperatorService {
  listSearchAttributes(request: {
    namespace: string;
  }): Promise<{ customAttributes?: Record<string, unknown> | null }>;
  addSearchAttributes(request: {
    namespace: string;
    searchAttributes: Record<string, number>;
  }): Promise<unknown>;
}

export interface UnusableAttribute {
  name: string;
  /** Temporal's reason. */
  reason: string;
}

/** Search attributes that are missing or aren't Keywords. Calls visibility once if all work, else once more for each. */
export async function unusableSearchAttributes(
  service: WorkflowService,
  namespace: string,
): Promise<UnusableAttribute[]> {
  const reasonAgainst = async (names: readonly string[]) => {
    // Only Keyword has this operator. SQL visibility accepts it for numbers too, but then starts refuse the values.
    const query = names.map((name) => `${name} STARTS_WITH '-'`).join(' AND ');
    try {
      await service.countWorkflowExecutions({ namespace, query });
      return undefined;
    } catch (error) {
      if (!isGrpcError(error, GRPC.invalidArgument)) throw error;
      return temporalMessage(error);
    }
  };
  if ((await reasonAgainst(SEARCH_ATTRIBUTE_NAMES)) === undefined) return [];
  const unusable: UnusableAttribute[] = [];
  for (const name of SEARCH_ATTRIBUTE_NAMES) {
    const reason = await reasonAgainst([name]);
    if (reason !== undefined) unusable.push({ name, reason });
  }
  return unusable;
}

/** Creates the missing search attributes, and returns whether any was missing. Fails where Temporal denies it. */
export async function addSearchAttributes(operator: OperatorService, namespace: string): Promise<boolean> {
  const { customAttributes } = await operator.listSearchAttributes({ namespace });
  const missing = SEARCH_ATTRIBUTE_NAMES.filter((name) => !(name in (customAttributes ?? {})));
  if (missing.length === 0) return false;
  const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]));
  await operator.addSearchAttributes({ namespace, searchAttributes });
  return true;
}

/** Whether Temporal refused a start because search attributes are missing or have another type. */
export function isSearchAttributeRefusal(error: unknown): boolean {
  const message = temporalMessage(error);
  return (
    isGrpcError(error, GRPC.invalidArgument) && /search attribute/i.test(message) && !/limit/.test(message)
  );
}
