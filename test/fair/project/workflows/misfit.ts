export async function misfit() {
  return {};
}
