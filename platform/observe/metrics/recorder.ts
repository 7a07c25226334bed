/**
 * Keeps metrics with OpenTelemetry's SDK, and renders them with its Prometheus exporter, which doesn't listen. Loaded only if
 * metrics are on.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Attributes, Counter, Histogram } from '@opentelemetry/api';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { longhaulPackage } from '../../home/package.js';
import {
  METRICS,
  unitOf,
  type CounterName,
  type GaugeName,
  type HistogramName,
  type MetricName,
} from './catalog.js';
import { corePage } from './core-page.js';

/** Sampling interval of the event loop's delay. */
const SAMPLE_INTERVAL_MS = 20;

type ReadGauge = (name: GaugeName) => Iterable<[Attributes, number]>;

export class Recorder {
  readonly #exporter = new PrometheusExporter({ preventServerStart: true });
  readonly #serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  readonly #counters = new Map<MetricName, Counter>();
  readonly #histograms = new Map<MetricName, Histogram>();
  /** Concurrent scrapes share the page that is being made. */
  #page: Promise<string> | undefined;

  constructor(process: 'server' | 'worker', readGauge: ReadGauge) {
    const meter = new MeterProvider({ readers: [this.#exporter] }).getMeter('longhaul');
    const own = processReadings(process, longhaulPackage().version);
    for (const [name, metric] of Object.entries(METRICS) as [MetricName, (typeof METRICS)[MetricName]][]) {
      const unit = unitOf(name);
      const description = { description: metric.help, ...(unit === undefined ? {} : { unit }) };
      const read = own[name];
      if (read)
        meter[metric.type === 'counter' ? 'createObservableCounter' : 'createObservableGauge'](
          name,
          description,
        ).addCallback((result) => {
          const [labels, value] = read();
          result.observe(value, labels);
        });
      else if (metric.type === 'counter') this.#counters.set(name, meter.createCounter(name, description));
      else if (metric.type === 'histogram')
        this.#histograms.set(
          name,
          meter.createHistogram(name, {
            ...description,
            advice: { explicitBucketBoundaries: [...metric.buckets] },
          }),
        );
      else
        meter.createObservableGauge(name, description).addCallback((result) => {
          for (const [labels, value] of readGauge(name as GaugeName)) result.observe(value, labels);
        });
    }
  }

  add(name: CounterName, labels: Attributes, by: number): void {
    this.#counters.get(name)!.add(by, labels);
  }

  observe(name: HistogramName, labels: Attributes, value: number): void {
    this.#histograms.get(name)!.record(Math.max(0, value), labels);
  }

  /** The current values, including Temporal's core. */
  page(): Promise<string> {
    this.#page ??= this.#render().finally(() => (this.#page = undefined));
    return this.#page;
  }

  async #render(): Promise<string> {
    const [{ resourceMetrics }, core] = await Promise.all([this.#exporter.collect(), corePage()]);
    return this.#serializer.serialize(resourceMetrics) + core;
  }
}

/** Readings of the process itself. */
function processReadings(
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
