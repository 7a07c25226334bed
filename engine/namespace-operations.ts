/** The engine's parts for one namespace of Temporal: reads, watches, queries. */
import type { Tools } from '../platform/tools.js';
import type { Signer } from '../platform/signer.js';
import { LiveQueries } from './live.js';
import { Records } from './read.js';
import type { TemporalClient } from './temporal.js';
import { Watches } from './watch.js';

export class NamespaceOperations {
  readonly watches: Watches;
  readonly records: Records;
  readonly live: LiveQueries;

  constructor(
    readonly temporal: TemporalClient,
    signer: Signer,
    tools: Tools,
  ) {
    this.watches = new Watches(temporal);
    this.records = new Records(
      temporal,
      signer,
      (tool) => tools.get(tool)?.external,
      (workflowId) => this.watches.wake(workflowId),
    );
    this.live = new LiveQueries(temporal);
  }
}
