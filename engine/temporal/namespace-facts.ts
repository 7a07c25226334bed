/** Properties of the namespace: its retention, and whether search attributes work. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client, OperatorService } from '@temporalio/client';
import type { Settings } from '../../platform/settings/index.js';
import { GRPC, isDenied, isGrpcError, temporalMessage } from '../../platform/temporal/grpc-errors.js';
import type { Logger } from '../../platform/observe/log.js';
import { noNamespaceError } from '../../platform/temporal/namespace.js';
import { openRunsIn, RUNNING_RUNS } from '../../platform/temporal/visibility-query.js';
import { programCommand } from '../../platform/home/program.js';
import {
  addSearchAttributes,
  OPTIONAL_ATTRIBUTES,
  optionalAttributeIn,
  unusableSearchAttributes,
  type UnusableAttribute,
} from '../../platform/temporal/search-attributes.js';

/** Age from which {@link TemporalFacts} are refreshed, and the deadline for reading them, in milliseconds. */
const FRESH_MS = 60_000;
const DEADLINE_MS = 5_000;
/** Assumed retention if the credentials may not read it, in seconds. */
const ASSUMED_RETENTION_SECONDS = 72 * 3_600;
/** How long Temporal may take to learn new search attributes, and the pause between looks, in milliseconds. */
const NEW_ATTRIBUTES_LIMIT_MS = 10_000;
const NEW_ATTRIBUTES_POLL_MS = 500;
const WITHOUT_ATTRIBUTES = "lists by them don't work, everything else does";

export interface TemporalFacts {
  /** How long the namespace keeps closed workflows, in seconds. */
  retentionSeconds: number;
  /** Visibility term for open runs. */
  openRuns: string;
  /** Whether the search attributes work that all lists need. */
  searchAttributes: boolean;
  /** The others that don't work: session or idempotency key. Only lists by them need them. */
  missingAttributes: readonly string[];
}

type AttributeFacts = Pick<TemporalFacts, 'searchAttributes' | 'missingAttributes'>;

interface Temporal {
  readonly namespace: string;
  readonly operatorService: OperatorService;
  call<T>(work: (client: Client) => Promise<T>, deadlineMs?: number): Promise<T>;
  callVisibility<T>(use: 'list', work: (client: Client) => Promise<T>, deadlineMs?: number): Promise<T>;
}

export class NamespaceFacts {
  #known: TemporalFacts | undefined;
  /** By the monotonic clock, in milliseconds. */
  #readAtMs = 0;
  #reading: Promise<TemporalFacts> | undefined;
  readonly #warnings = new Set<string>();

  constructor(
    private readonly temporal: Temporal,
    private readonly searchAttributes: Settings['searchAttributes'],
    private readonly logger: Logger,
  ) {}

  /** Only the first callers wait; the background refreshes later. */
  async read(): Promise<TemporalFacts> {
    if (!this.#known) return this.#refresh();
    if (performance.now() - this.#readAtMs > FRESH_MS)
      this.#refresh().catch((error: unknown) =>
        this.logger.debug({ err: error }, "the properties of Temporal can't be read"),
      );
    return this.#known;
  }

  /** Starts without the refused search attribute, or without any if the lists need it, until Temporal accepts it again. */
  withoutSearchAttributes(refusal: unknown): void {
    this.#warnOnce(`${temporalMessage(refusal)}; ${WITHOUT_ATTRIBUTES}`);
    if (!this.#known) return;
    const { missingAttributes } = this.#known;
    const refused = optionalAttributeIn(refusal);
    this.#known =
      refused === undefined
        ? { ...this.#known, searchAttributes: false }
        : { ...this.#known, missingAttributes: [...new Set([...missingAttributes, refused])] };
  }

  #refresh(): Promise<TemporalFacts> {
    this.#reading ??= this.#readAll().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #readAll(): Promise<TemporalFacts> {
    const [described, attributes] = await Promise.all([this.#readNamespace(), this.#readSearchAttributes()]);
    this.#known = { ...described, ...attributes };
    this.#readAtMs = performance.now();
    return this.#known;
  }

  async #readNamespace(): Promise<Omit<TemporalFacts, keyof AttributeFacts>> {
    try {
      const described = await this.temporal.call(
        (client) => client.workflowService.describeNamespace({ namespace: this.temporal.namespace }),
        DEADLINE_MS,
      );
      const retention = described.config?.workflowExecutionRetentionTtl?.seconds;
      return {
        retentionSeconds: Number(retention ?? ASSUMED_RETENTION_SECONDS),
        openRuns: openRunsIn(described),
      };
    } catch (error) {
      if (isGrpcError(error, GRPC.notFound)) throw noNamespaceError(this.temporal.namespace, error);
      if (!isDenied(error)) throw error;
      const hours = ASSUMED_RETENTION_SECONDS / 3_600;
      this.#warnOnce(`the credentials may not read the namespace's retention; ${hours} hours are assumed`);
      return this.#known ?? { retentionSeconds: ASSUMED_RETENTION_SECONDS, openRuns: RUNNING_RUNS };
    }
  }

  /** Checks visibility, after creating missing search attributes if the settings ask for it. Once all work, they aren't checked again. */
  async #readSearchAttributes(): Promise<AttributeFacts> {
    const { searchAttributes: areUsed = false, missingAttributes = [] } = this.#known ?? {};
    if (areUsed && missingAttributes.length === 0) return { searchAttributes: true, missingAttributes };
    if (this.searchAttributes === 'off')
      return { searchAttributes: false, missingAttributes: OPTIONAL_ATTRIBUTES };
    const areNew = this.searchAttributes === 'create' && (await this.#createSearchAttributes());
    const limitMs = performance.now() + (areNew ? NEW_ATTRIBUTES_LIMIT_MS : 0);
    for (;;) {
      try {
        const unusable = await this.temporal.callVisibility(
          'list',
          ({ workflowService }) => unusableSearchAttributes(workflowService, this.temporal.namespace),
          DEADLINE_MS,
        );
        if (unusable.length === 0) return { searchAttributes: true, missingAttributes: [] };
        if (performance.now() > limitMs) {
          this.#warnOnce(
            `search attributes can't be used: ${unusable.map(({ name, reason }) => `${name} (${reason})`).join(', ')}; ` +
              `${WITHOUT_ATTRIBUTES}; \`${programCommand()} doctor --fix\` creates missing ones`,
          );
          return attributeFacts(unusable);
        }
      } catch (error) {
        // It's unknown whether they work: a start that is refused for them is repeated without them.
        if (isDenied(error))
          this.#warnOnce(
            `the credentials may not read visibility (${temporalMessage(error)}): lists don't work`,
          );
        return { searchAttributes: !isGrpcError(error, GRPC.unimplemented), missingAttributes };
      }
      await delay(NEW_ATTRIBUTES_POLL_MS);
    }
  }

  /** @returns whether some were created */
  async #createSearchAttributes(): Promise<boolean> {
    try {
      return await this.temporal.call(
        () => addSearchAttributes(this.temporal.operatorService, this.temporal.namespace),
        DEADLINE_MS,
      );
    } catch (error) {
      this.#warnOnce(`search attributes can't be created: ${temporalMessage(error)}`);
      return false;
    }
  }

  #warnOnce(warning: string): void {
    if (this.#warnings.has(warning)) return;
    this.#warnings.add(warning);
    this.logger.warn(warning);
  }
}

function attributeFacts(unusable: UnusableAttribute[]): AttributeFacts {
  const names = unusable.map(({ name }) => name);
  return {
    searchAttributes: names.every((name) => OPTIONAL_ATTRIBUTES.includes(name)),
    missingAttributes: OPTIONAL_ATTRIBUTES.filter((name) => names.includes(name)),
  };
}
