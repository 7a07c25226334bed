export async function probe() {
  return {};
}
