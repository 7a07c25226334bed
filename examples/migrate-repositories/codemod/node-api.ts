import { Node } from 'ts-morph';

/**
 * Name of the Node.js API that an expression is, found by the type checker: an alias of an import is followed, and a variable that
 * is only called `Buffer` or `fs` doesn't count.
 *
 * @returns e.g. `Buffer`, `fs.exists`; undefined for anything else
 */
export function nodeApi(expression: Node): string | undefined {
  const found = expression.getSymbol();
  const symbol = found?.getAliasedSymbol() ?? found;
  const declaration = symbol?.getDeclarations().find(isOfNode);
  if (!symbol || !declaration) return undefined;
  if (symbol.getName() === 'Buffer') return 'Buffer';
  const module = moduleOf(declaration);
  return module && `${module}.${symbol.getName()}`;
}

function isOfNode(declaration: Node): boolean {
  return declaration.getSourceFile().getFilePath().includes('/node_modules/@types/node/');
}

/** `fs` for what is declared in `declare module "fs"` or `"node:fs"`. */
function moduleOf(declaration: Node): string | undefined {
  for (const ancestor of declaration.getAncestors()) {
    if (Node.isModuleDeclaration(ancestor) && ancestor.hasModuleKeyword())
      return ancestor.getName().replace(/^['"](node:)?|['"]$/g, '');
  }
  return undefined;
}

/** Whether this is `object.name`, the only form in which functions are replaced: a changed import would touch other lines. */
export function isMember(callee: Node): boolean {
  return Node.isPropertyAccessExpression(callee) && !callee.hasQuestionDotToken();
}
