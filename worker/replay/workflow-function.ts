/** Finds a workflow's function in the sources of a bundle. */
import type { Frame } from './frames.js';

interface SourceMap {
  sources: string[];
  sourcesContent?: (string | null)[];
}

/** The function that is exported under the name of a workflow type; undefined if no source declares it so. */
export function functionIn(code: string, type: string): Frame | undefined {
  const [, encoded] =
    /\/\/# sourceMappingURL=data:[^,]*;base64,([A-Za-z0-9+/=]+)\s*$/.exec(
      code.slice(code.lastIndexOf('//# sourceMappingURL=')),
    ) ?? [];
  if (encoded === undefined) return undefined;
  const { sources, sourcesContent = [] } = JSON.parse(Buffer.from(encoded, 'base64').toString()) as SourceMap;
  const name = type.replaceAll(/[^\w$]/g, '');
  const declaration = new RegExp(
    `^export\\s+(?:default\\s+)?(?:(?:async\\s+)?function|const|let)\\s+${name.replaceAll('$', '\\$')}\\b`,
    'm',
  );
  for (const [at, file] of sources.entries()) {
    const content = /[\\/]node_modules[\\/]/.test(file) ? undefined : sourcesContent[at];
    const found = content ? declaration.exec(content) : null;
    if (!found) continue;
    const line = content!.slice(0, found.index).split('\n').length;
    return { function: type, file, line, column: 1 };
  }
  return undefined;
}
