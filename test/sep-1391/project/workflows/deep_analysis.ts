export async function deep_analysis() {
  return { depth: 3 };
}
