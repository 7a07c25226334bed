export async function coded(input: object) {
  return input;
}
