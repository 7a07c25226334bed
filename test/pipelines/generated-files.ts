/** Files made from a language's own schema: a schema for editors, and tables of keys in a page. `LONGHAUL_RECORD=1` writes them again. */
import { readFileSync, writeFileSync } from 'node:fs';

export interface GeneratedFiles {
  /** Path of the schema for editors, and of the page with the tables. */
  schema: string;
  page: string;
  /** Module that the tables are made from, as the page's mark names it. */
  source: string;
  editorSchema: () => object;
  keyTables: () => string;
}

export function generatedFiles({ schema, page, source, editorSchema, keyTables }: GeneratedFiles) {
  const [begin, end] = [`<!-- keys: made from ${source} -->`, '<!-- end of keys -->'];
  /** Before, between and behind the marks. */
  const parts = (): [string, string, string] => {
    const text = readFileSync(page, 'utf8');
    const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
    return [text.slice(0, from), text.slice(from, to), text.slice(to)];
  };
  return {
    writtenSchema: () => JSON.parse(readFileSync(schema, 'utf8')) as object,
    writtenTables: () => parts()[1].trim(),
    async record(): Promise<void> {
      if (!process.env['LONGHAUL_RECORD']) return;
      const { format, resolveConfig } = await import('prettier');
      const json = JSON.stringify(editorSchema());
      writeFileSync(schema, await format(json, { ...(await resolveConfig(schema)), filepath: schema }));
      const [before, , after] = parts();
      writeFileSync(page, `${before}\n\n${keyTables()}\n\n${after}`);
    },
  };
}
