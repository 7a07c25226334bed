export async function clashing() {
  return {};
}
