import { Node, type Identifier, type SourceFile } from 'ts-morph';
import type { Edit } from './rule.js';

/**
 * Edits that remove the imports of a module which only the replaced text used: linters and strict compilers refuse them.
 *
 * @param edits of the file so far
 */
export function unusedImports(file: SourceFile, edits: Edit[], modules: readonly string[]): Edit[] {
  const isReplaced = (node: Node) =>
    edits.some(
      ({ from, to, text }) => from <= node.getStart() && node.getEnd() <= to && !mentions(text, node),
    );
  return importsOf(file, modules).flatMap(({ name, statement }) => {
    const references = name
      .findReferencesAsNodes()
      .filter((node) => node !== name && node.getSourceFile() === file);
    if (references.length === 0 || !references.every(isReplaced)) return [];
    return [{ from: statement.getStart(), to: endOfLines(file.getFullText(), statement), text: '' }];
  });
}

/** End of the statement's line, and of an empty one after it that would stand beside another or come first. */
function endOfLines(text: string, statement: Node): number {
  const end = statement.getEnd() + (text[statement.getEnd()] === '\n' ? 1 : 0);
  const isAfterEmpty = /(^|\n\s*\n)$/.test(text.slice(0, statement.getStart()));
  return isAfterEmpty && text[end] === '\n' ? end + 1 : end;
}

function mentions(text: string, node: Node): boolean {
  return new RegExp(`\\b${node.getText()}\\b`).test(text);
}

interface WholeImport {
  name: Identifier;
  statement: Node;
}

/** Statements that import a whole module under one name, and do nothing else. */
function importsOf(file: SourceFile, modules: readonly string[]): WholeImport[] {
  const isNamed = (specifier: string) => modules.includes(specifier.replace(/^node:/, ''));
  return file.getStatements().flatMap((statement): WholeImport[] => {
    if (Node.isImportDeclaration(statement)) {
      const name = statement.getDefaultImport() ?? statement.getNamespaceImport();
      const isWhole = statement.getNamedImports().length === 0;
      return name && isWhole && isNamed(statement.getModuleSpecifierValue()) ? [{ name, statement }] : [];
    }
    if (!Node.isVariableStatement(statement)) return [];
    const [declaration, ...others] = statement.getDeclarations();
    const name = declaration?.getNameNode();
    const [, specifier] =
      /^require\(\s*['"]([^'"]+)['"]\s*\)$/.exec(declaration?.getInitializer()?.getText() ?? '') ?? [];
    const isOne = others.length === 0 && Node.isIdentifier(name) && specifier !== undefined;
    return isOne && isNamed(specifier) ? [{ name, statement }] : [];
  });
}
