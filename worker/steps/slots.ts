/** Slots for pipeline steps. Adopted steps occupy slots too, although they run without an activity of this worker. */
import { once } from 'node:events';
import type {
  ActivitySlotInfo,
  CustomSlotSupplier,
  SlotPermit,
  SlotReserveContext,
} from '@temporalio/worker';
import type { HostSteps } from './host-steps.js';

export class StepSlots implements CustomSlotSupplier<ActivitySlotInfo> {
  readonly type = 'custom';
  #reserved = 0;
  readonly #freed = new EventTarget();

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
      // The SDK treats any error but the signal's reason as a defect.
      await once(this.#freed, 'freed', { signal }).catch(() => signal.throwIfAborted());
    }
  }

  tryReserveSlot(_context: SlotReserveContext): SlotPermit | null {
    if (this.#reserved + this.steps.adoptedCount >= this.maxSteps) return null;
    this.#reserved += 1;
    return {};
  }

  markSlotUsed(): void {
    // A reserved slot already counts.
  }

  releaseSlot(): void {
    this.#reserved -= 1;
    this.#wake();
  }

  #wake(): void {
    this.#freed.dispatchEvent(new Event('freed'));
  }
}
