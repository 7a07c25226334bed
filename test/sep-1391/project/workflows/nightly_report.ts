export async function nightly_report() {
  return { pages: 7 };
}
