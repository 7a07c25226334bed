/** Readings of the process itself. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Attributes } from '@opentelemetry/api';
import type { MetricName } from './catalog.js';

/** Sampling interval of the event loop's delay. */
const SAMPLE_INTERVAL_MS = 20;

export function processReadings(
  kind: 'server' | 'worker',
  version: string,
): Partial<Record<MetricName, () => [Attributes, number]>> {
  const delay = monitorEventLoopDelay({ resolution: SAMPLE_INTERVAL_MS });
  delay.enable();
  return {
    longhaul_process_info: () => [{ process: kind, version }, 1],
    longhaul_process_cpu_seconds_total: () => {
      const { user, system } = process.cpuUsage();
      return [{}, (user + system) / 1e6];
    },
    longhaul_process_resident_memory_bytes: () => [{}, process.memoryUsage.rss()],
    longhaul_event_loop_delay_seconds: () => {
      // Each sample includes the timer's own interval.
      const seconds = Math.max(0, delay.max / 1e9 - SAMPLE_INTERVAL_MS / 1_000);
      delay.reset();
      return [{}, seconds];
    },
  };
}
