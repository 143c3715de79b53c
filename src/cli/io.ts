/** What a command may use of the process around it. */
export interface Io {
  stdout(text: string): void;
  stderr(text: string): void;
  /** Aborted when standard output cannot be written any more, which has then been said. Left out: it always can. */
  readonly outputFailed?: AbortSignal;
  readonly isTTY: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}
