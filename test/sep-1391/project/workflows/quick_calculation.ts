export async function quick_calculation({ x, y }: { x: number; y: number }) {
  return { sum: x + y };
}
