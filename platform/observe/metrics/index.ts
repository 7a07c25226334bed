/** Counts and measures, for the whole process. Without {@link startMetrics}, a count only checks for undefined. */
import type { CounterName, GaugeName, HistogramName, Labels } from './catalog.js';
import type { Recorder } from './recorder.js';

/** One value of a gauge. */
export type Reading<Name extends GaugeName> = [labels: Labels<Name>, value: number];
type Read<Name extends GaugeName> = () => Iterable<Reading<Name>>;

/** Label value for names that callers invent, such as unknown methods: labels must have few values. */
export const OTHER = 'other';

/** Prometheus's text format. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

let recorder: Recorder | undefined;
const gauges = new Map<GaugeName, Set<Read<GaugeName>>>();
const scrapeListeners = new Set<() => void>();

export function areMetricsOn(): boolean {
  return recorder !== undefined;
}

/** Keeps metrics from now on. @param process kind of process, a label of `longhaul_process_info` */
export async function startMetrics(process: 'server' | 'worker'): Promise<void> {
  if (recorder) return;
  const [{ Recorder }, { chooseCoreAddress }] = await Promise.all([
    import('./recorder.js'),
    import('./core-page.js'),
  ]);
  await chooseCoreAddress();
  recorder ??= new Recorder(process, readGauge);
}

/** Adds to a counter. @param by 0 makes the series visible before its first event. Default: 1 */
export function count<Name extends CounterName>(name: Name, labels: Labels<Name>, by = 1): void {
  recorder?.add(name, labels, by);
}

/** Adds a value to a histogram, in the metric's unit. */
export function observe<Name extends HistogramName>(name: Name, labels: Labels<Name>, value: number): void {
  recorder?.observe(name, labels, value);
}

/** Registers a source of a gauge's values, read synchronously at each scrape. @returns a function that removes it */
export function gauge<Name extends GaugeName>(name: Name, read: Read<NoInfer<Name>>): () => void {
  const sources = gauges.get(name) ?? new Set();
  gauges.set(name, sources.add(read as Read<GaugeName>));
  return () => void sources.delete(read as Read<GaugeName>);
}

/**
 * Registers a listener, called at each scrape. It must return at once: run slow reads in the background.
 *
 * @returns a function that removes it
 */
export function onScrape(listener: () => void): () => void {
  scrapeListeners.add(listener);
  return () => void scrapeListeners.delete(listener);
}

/** Renders metrics in Prometheus's text format; undefined while the process keeps none. */
export async function metricsPage(): Promise<string | undefined> {
  if (!recorder) return undefined;
  for (const listener of scrapeListeners) listener();
  return recorder.page();
}

function* readGauge(name: GaugeName): Generator<Reading<GaugeName>> {
  for (const read of gauges.get(name) ?? []) yield* read();
}
