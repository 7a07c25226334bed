/**
 * Says of each number whether it is above all before: progress must increase with each notification of a token (specs:
 * 2026-07-28 basic/patterns/progress, "Progress Flow").
 */
export function increasing(after = -Infinity): (value: number) => boolean {
  let furthest = after;
  return (value) => {
    const isHigher = value > furthest;
    furthest = Math.max(furthest, value);
    return isHigher;
  };
}
