/** Comment lines of a draft about the encodings, messages, heartbeats and definitions that were seen. */
import type { Definition, Observed } from './observed.js';
import type { SeenValues } from './seen-values.js';
import { shapeText } from './shape.js';

/** @param noun of the values */
export function encodingLines({ encodings, shapes }: SeenValues, noun: string): string[] {
  return encodings.flatMap((names, place) => {
    if (names.size === 0) return [];
    const advice =
      shapes[place]!.examples > 0
        ? 'as tools send plain JSON, check that your worker decodes it'
        : 'its type is unknown, and tools send plain JSON';
    const which = encodings.length > 1 ? `${noun} ${place + 1}` : noun;
    return [`${which} is encoded as ${[...names].join(', ')}: ${advice}.`];
  });
}

/** Signals and updates of histories, with the types of their arguments. */
export function messageLines({ signals, updates }: Observed): string[] {
  const linesOf = (kind: string, messages: Map<string, SeenValues>) =>
    messages.size === 0
      ? []
      : [
          `${kind} in histories: ${[...messages].map(([name, seen]) => `${name}(${argumentsText(seen)})`).join(', ')}.`,
        ];
  return [...linesOf('Signals', signals), ...linesOf('Updates', updates)];
}

function argumentsText({ shapes, encodings, least }: SeenValues): string {
  return shapes
    .map((shape, place) => {
      const text = shape.examples > 0 ? shapeText(shape) : [...encodings[place]!].join(' or ');
      return place < least ? text : `${text}?`;
    })
    .join(', ');
}

/** Heartbeats that were seen, and activities that have a time-out for them. */
export function heartbeatLines({ heartbeats, beating }: Observed): string[] {
  const seen = [...heartbeats].map(([activity, values]) => `${activity}(${argumentsText(values)})`);
  const unseen = [...beating].filter((activity) => !heartbeats.has(activity));
  return [
    ...(seen.length > 0 ? [`Heartbeats: ${seen.join(', ')}.`] : []),
    ...(unseen.length > 0
      ? [
          `Activities with a heartbeat time-out: ${unseen.join(', ')}. Histories don't hold their heartbeats; an open run shows them, ` +
            'and `progress: { heartbeats: true, map: ... }` reads them.',
        ]
      : []),
  ];
}

export function definedLines({ definitions }: Observed): string[] {
  if (definitions === undefined)
    return ['Queries are unknown: histories hold none. longhaul discover --query asks a worker for them.'];
  if (definitions === 'none')
    return ['Queries are unknown: no open run, or no worker that answers the query of its definitions.'];
  const linesOf = (kind: string, all: Definition[]) =>
    all.length === 0
      ? []
      : [
          `${kind} that the worker defines:`,
          ...all.map(({ name, description }) => `  ${name}${description === '' ? '' : `: ${description}`}`),
        ];
  return [
    ...linesOf('Queries', definitions.queries),
    ...linesOf('Signals', definitions.signals),
    ...linesOf('Updates', definitions.updates),
  ];
}
