import { Node, type Type } from 'ts-morph';
import type { Rule } from '../rule.js';

/** Classes whose instances `Buffer.from` takes as the constructor did. */
const BYTES = new Set(['Buffer', 'Uint8Array', 'ArrayBuffer', 'SharedArrayBuffer']);

/** DEP0005: `new Buffer(size)` is `Buffer.alloc(size)`, anything else `Buffer.from`. The type of the argument decides. */
export const buffer: Rule = {
  apis: ['Buffer'],
  migrate(call) {
    const [content, encoding] = call.getArguments();
    if (!content || Node.isSpreadElement(content)) return { left: 'Buffer without a first argument' };
    // A number with an encoding is refused by the constructor too.
    const method = encoding && isText(encoding.getType()) ? 'from' : methodFor(content.getType());
    if (!method)
      return { left: 'the argument of Buffer may be a number: Buffer.alloc for that, else Buffer.from' };
    const callee = call.getExpression();
    const text = `${callee.getText()}.${method}`;
    return { edits: [{ from: call.getStart(), to: callee.getEnd(), text }] };
  },
};

function isText(type: Type): boolean {
  return type.isString() || type.isStringLiteral() || type.isTemplateLiteral();
}

/** @returns undefined if the type doesn't decide */
function methodFor(type: Type): 'alloc' | 'from' | undefined {
  // With null and undefined, the constructor and Buffer.from throw alike.
  const types = (type.isUnion() ? type.getUnionTypes() : [type]).filter(
    (one) => !one.isUndefined() && !one.isNull(),
  );
  if (types.length === 0) return undefined;
  if (types.every((one) => one.isNumber() || one.isNumberLiteral())) return 'alloc';
  const isContent = (one: Type) =>
    isText(one) || one.isArray() || one.isTuple() || BYTES.has(one.getSymbol()?.getName() ?? '');
  return types.every(isContent) ? 'from' : undefined;
}
