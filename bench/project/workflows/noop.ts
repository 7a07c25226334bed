export async function noop() {
  return { done: true };
}
