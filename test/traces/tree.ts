/** A trace as a tree, for people. */
import type { ReceivedSpan } from './collector.js';

/** Lines: name, kind, part, and how long after the trace's begin it was done, in milliseconds. */
export function treeOf(spans: readonly ReceivedSpan[]): string[] {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const beganMs = Math.min(...spans.map(({ startMs }) => startMs));
  const below = (parentSpanId: string) =>
    spans
      .filter((span) => span.parentSpanId === parentSpanId)
      .toSorted((one, other) => one.startMs - other.startMs);
  const lines = (span: ReceivedSpan, depth: number): string[] => [
    lineOf(span, depth, beganMs),
    ...below(span.spanId).flatMap((child) => lines(child, depth + 1)),
  ];
  const roots = spans.filter(({ parentSpanId }) => !known.has(parentSpanId));
  return roots.toSorted((one, other) => one.startMs - other.startMs).flatMap((root) => lines(root, 0));
}

function lineOf(
  { name, resource, startMs, endMs, isError, attributes }: ReceivedSpan,
  depth: number,
  beganMs: number,
): string {
  const attempt = attributes['longhaul.attempt'];
  const notes = [
    ...(attempt === undefined || attempt === 1 ? [] : [`attempt ${String(attempt)}`]),
    ...(isError ? [`error ${String(attributes['error.type'])}`] : []),
  ];
  const label = `${'  '.repeat(depth)}${name}${notes.length ? ` (${notes.join(', ')})` : ''}`;
  const times = `${(startMs - beganMs).toFixed(0).padStart(6)} +${(endMs - startMs).toFixed(0)}`;
  return `${label.padEnd(58)} ${String(resource['longhaul.part']).padEnd(6)} ${times}`;
}
