/**
 * Longhaul's search attributes in a namespace. Any client may ask visibility whether they work. Creating them needs the operator
 * service, which Temporal Cloud and clusters with an authorizer refuse.
 */
import { SEARCH_ATTRIBUTES } from '../../operations/wire/index.js';
import type { OperatorService, WorkflowService } from '@temporalio/client';
import type proto from '@temporalio/proto';
import { GRPC, isGrpcError, temporalMessage } from './grpc-errors.js';

/** `Keyword` of temporal.api.enums.v1.IndexedValueType. */
const KEYWORD = 2;
/** Keywords that a namespace in an SQL store has room for, with those of other programs. */
const SQL_KEYWORDS = 10;

/** Only lists by these need them. SQL stores may have no room left. */
export const OPTIONAL_ATTRIBUTES: readonly string[] = [
  SEARCH_ATTRIBUTES.session,
  SEARCH_ATTRIBUTES.idempotencyKey,
];
const NEEDED_ATTRIBUTES = [SEARCH_ATTRIBUTES.principal, SEARCH_ATTRIBUTES.tool, SEARCH_ATTRIBUTES.status];
export const SEARCH_ATTRIBUTE_NAMES: readonly string[] = [...NEEDED_ATTRIBUTES, ...OPTIONAL_ATTRIBUTES];

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

/**
 * Creates the missing search attributes: the needed ones together, then each optional one for which there is room.
 *
 * @returns whether any was created @throws when Temporal denies it, or has no room for the needed ones
 */
export async function addSearchAttributes(operator: OperatorService, namespace: string): Promise<boolean> {
  const { customAttributes } = await operator.listSearchAttributes({ namespace });
  const isMissing = (name: string) => !(name in (customAttributes ?? {}));
  const add = async (names: readonly string[]) => {
    const searchAttributes = Object.fromEntries(names.map((name) => [name, KEYWORD]));
    await operator.addSearchAttributes({ namespace, searchAttributes });
    return true;
  };
  const needed = NEEDED_ATTRIBUTES.filter(isMissing);
  let areNew = needed.length > 0 && (await add(needed));
  // One that has no room stays missing, which the checks report.
  for (const name of OPTIONAL_ATTRIBUTES.filter(isMissing))
    areNew = (await add([name]).catch(() => false)) || areNew;
  return areNew;
}

/** How many keywords an SQL store has room for; undefined for other stores. Fails where Temporal denies it. */
export async function keywordsLeft(
  operator: OperatorService,
  namespace: string,
): Promise<{ left: number; limit: number } | undefined> {
  const { customAttributes, storageSchema } = await operator.listSearchAttributes({ namespace });
  // Only Elasticsearch has a schema, and no such limit.
  if (Object.keys(storageSchema ?? {}).length > 0) return undefined;
  const used = Object.values(customAttributes ?? {}).filter((type) => type === KEYWORD).length;
  return { left: Math.max(0, SQL_KEYWORDS - used), limit: SQL_KEYWORDS };
}

/** Whether Temporal refused a start because search attributes are missing or have another type. */
export function isSearchAttributeRefusal(error: unknown): boolean {
  const message = temporalMessage(error);
  return (
    isGrpcError(error, GRPC.invalidArgument) && /search attribute/i.test(message) && !/limit/.test(message)
  );
}

/** The optional search attribute that such a refusal names, if it names one. */
export function optionalAttributeIn(refusal: unknown): string | undefined {
  return OPTIONAL_ATTRIBUTES.find((name) => temporalMessage(refusal).includes(name));
}

/** A keyword of a listed or described run. */
export function keywordIn(
  { searchAttributes }: proto.temporal.api.workflow.v1.IWorkflowExecutionInfo,
  name: string,
): string | undefined {
  const { data } = searchAttributes?.indexedFields?.[name] ?? {};
  const value: unknown = data ? JSON.parse(Buffer.from(data).toString()) : undefined;
  return typeof value === 'string' ? value : undefined;
}
