export interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

export type OnProgress = (progress: Progress) => void;

/** Passes on increasing progress only: work that starts over with other types also reports from the start. */
export function monotonic(onProgress: OnProgress): OnProgress {
  let furthest = 0;
  return (report) => {
    furthest = Math.max(furthest, report.progress);
    onProgress({ ...report, progress: furthest });
  };
}

/** Progress in percent over several statements, each from one share of the whole to another. */
export function percentOf(onProgress: OnProgress, message: string) {
  return (from: number, to: number) => (share: number) =>
    onProgress({ progress: from + share * (to - from), total: 100, message });
}
