/** The patterns within a schema. */
import { DATA_KEYWORDS, MAP_KEYWORDS } from './subschemas.js';

/** A pattern and its path in the schema: keywords, names and indexes. */
export interface PatternPlace {
  pattern: string;
  path: string[];
}

/** All patterns of a schema: values of `pattern`, and names in `patternProperties`. */
export function findPatterns(schema: unknown): PatternPlace[] {
  const found: PatternPlace[] = [];
  const done = new Set<unknown>();
  const visit = (at: unknown, path: string[], isMap: boolean): void => {
    if (typeof at !== 'object' || at === null || done.has(at)) return;
    done.add(at);
    for (const [key, value] of Object.entries(at)) {
      const here = [...path, key];
      if (isMap) {
        if (path.at(-1) === 'patternProperties') found.push({ pattern: key, path: here });
        visit(value, here, false);
      } else if (key === 'pattern' && typeof value === 'string') found.push({ pattern: value, path: here });
      else if (!DATA_KEYWORDS.has(key)) visit(value, here, MAP_KEYWORDS.has(key));
    }
  };
  visit(schema, [], false);
  return found;
}
