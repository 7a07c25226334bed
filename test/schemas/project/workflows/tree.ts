export async function tree(input: { root: unknown }) {
  return input;
}
