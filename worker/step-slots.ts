/** Slots for pipeline steps: adopted steps, which run without an activity of this worker, take theirs. */
import { once } from 'node:events';
import type {
  ActivitySlotInfo,
  CustomSlotSupplier,
  SlotPermit,
  SlotReserveContext,
} from '@temporalio/worker';
import type { HostSteps } from '../activities/pipeline/host-steps.js';

export class StepSlots implements CustomSlotSupplier<ActivitySlotInfo> {
  readonly type = 'custom';
  /** Number of reserved slots. */
  #reserved = 0;
  readonly #freed = new EventTarget();

  /** @param maxSteps maximum number of steps that run at once */
  constructor(
    private readonly maxSteps: number,
    private readonly steps: HostSteps,
  ) {
    steps.onChange = () => this.#wake();
  }

  async reserveSlot(context: SlotReserveContext, signal: AbortSignal): Promise<SlotPermit> {
    for (;;) {
      const permit = this.tryReserveSlot(context);
      if (permit) return permit;
      // The SDK takes any error but this one for a defect.
      await once(this.#freed, 'freed', { signal }).catch(() => signal.throwIfAborted());
    }
  }

  tryReserveSlot(_context: SlotReserveContext): SlotPermit | null {
    if (this.#reserved + this.steps.adoptedCount >= this.maxSteps) return null;
    this.#reserved += 1;
    return {};
  }

  markSlotUsed(): void {
    // A reserved slot counts already.
  }

  releaseSlot(): void {
    this.#reserved -= 1;
    this.#wake();
  }

  #wake(): void {
    this.#freed.dispatchEvent(new Event('freed'));
  }
}
