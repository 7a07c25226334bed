export async function doNothing() {
  return { done: true };
}
