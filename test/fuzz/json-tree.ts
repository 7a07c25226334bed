/** JSON as an editable tree that can also hold what JSON.stringify never writes: duplicate keys, NaN, invalid UTF-8. */

export type Tree =
  | { kind: 'object'; members: [key: string, value: Tree][] }
  | { kind: 'array'; items: Tree[] }
  /** A string. {@link INVALID} in it is written as bytes that aren't UTF-8. */
  | { kind: 'string'; value: string }
  /** Written as it is: numbers, true, NaN, broken text. */
  | { kind: 'verbatim'; text: string };

/** A private-use character in place of the bytes C3 28, which aren't UTF-8. */
export const INVALID = '\uf8ff';
const INVALID_AS_WRITTEN = Buffer.from(INVALID).toString('latin1');

export function treeOf(value: unknown): Tree {
  if (typeof value === 'string') return { kind: 'string', value };
  if (Array.isArray(value)) return { kind: 'array', items: value.map(treeOf) };
  if (typeof value === 'object' && value !== null)
    return {
      kind: 'object',
      members: Object.entries(value)
        .filter(([, inner]) => inner !== undefined)
        .map(([key, inner]) => [key, treeOf(inner)]),
    };
  return { kind: 'verbatim', text: JSON.stringify(value) };
}

export function copyOf(tree: Tree): Tree {
  if (tree.kind === 'object')
    return { kind: 'object', members: tree.members.map(([key, value]) => [key, copyOf(value)]) };
  return tree.kind === 'array' ? { kind: 'array', items: tree.items.map(copyOf) } : { ...tree };
}

function textOf(tree: Tree): string {
  switch (tree.kind) {
    case 'object':
      return `{${tree.members.map(([key, value]) => `${JSON.stringify(key)}:${textOf(value)}`).join(',')}}`;
    case 'array':
      return `[${tree.items.map(textOf).join(',')}]`;
    case 'string':
      return JSON.stringify(tree.value);
    case 'verbatim':
      return tree.text;
  }
}

export function bytesOf(tree: Tree): Buffer {
  const text = textOf(tree);
  const bytes = Buffer.from(text);
  if (!text.includes(INVALID)) return bytes;
  return Buffer.from(bytes.toString('latin1').replaceAll(INVALID_AS_WRITTEN, '\xc3\x28'), 'latin1');
}

/** A value in a tree, with what replaces and removes it. */
export interface Place {
  tree: Tree;
  /** Number of objects and arrays around it. */
  depth: number;
  /** Keys of the objects around it. */
  path: readonly string[];
  replace: (tree: Tree) => void;
  /** Missing for the whole. */
  remove?: () => void;
}

/** Every value in a tree, the whole first. */
export function placesIn(root: Tree, replaceRoot: (tree: Tree) => void): Place[] {
  const places: Place[] = [];
  const visit = (place: Place) => {
    places.push(place);
    const { tree, depth, path } = place;
    if (tree.kind === 'object')
      for (const member of tree.members)
        visit({
          tree: member[1],
          depth: depth + 1,
          path: [...path, member[0]],
          replace: (value) => void (member[1] = value),
          remove: () => void tree.members.splice(tree.members.indexOf(member), 1),
        });
    if (tree.kind === 'array')
      for (const [index, item] of tree.items.entries())
        visit({
          tree: item,
          depth: depth + 1,
          path,
          replace: (value) => void (tree.items[index] = value),
          remove: () => void tree.items.splice(index, 1),
        });
  };
  visit({ tree: root, depth: 0, path: [], replace: replaceRoot });
  return places;
}
