/** Values that travel between the workflow and its activities. No imports: the workflow's sandbox loads this file too. */

/** Lines of a document, and the text that was found there. */
export interface Citation {
  /** Path within the folder, with `/`. */
  document: string;
  /** Counted from 1. */
  fromLine: number;
  toLine: number;
  /** Text of the document, as it is there but for white space. */
  quote: string;
}

/** A statement of the report. */
export interface Claim {
  text: string;
  citations: Citation[];
}

/** A part of the topic. */
export interface Question {
  text: string;
  /** Words to search for. */
  query: string;
}

/** Result of one researcher. */
export interface Finding {
  question: string;
  round: number;
  claims: Claim[];
  /** Statements of the model that were left out, since a quote wasn't found in the documents. */
  dropped: number;
  /** The model gave no answer that could be read. */
  isUnreadable?: true;
}

export interface Contradiction {
  about: string;
  sides: [Citation, Citation];
}

/** Result of the critic: questions for the next round, and contradictions between statements. */
export interface Critique {
  gaps: Question[];
  contradictions: Contradiction[];
  isUnreadable?: true;
}

export interface Skipped {
  document: string;
  reason: string;
}

/** The folder, as it was found at the beginning. */
export interface Survey {
  /** Real path. */
  folder: string;
  documents: number;
  skipped: Skipped[];
  /** Name of the language model, or null: sentences are extracted. */
  model: string | null;
}

/** Everything that a report is made of. */
export interface Research {
  topic: string;
  survey: Survey;
  rounds: number;
  findings: Finding[];
  contradictions: Contradiction[];
  /** Questions that no round has taken up. */
  open: string[];
  /** Remarks on how the report came about. */
  notes: string[];
}
