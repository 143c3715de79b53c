/** What a command may use of the process around it. */
export interface Io {
  stdout(text: string): void;
  stderr(text: string): void;
  /** For whoever writes much: resolves when standard output has taken most of what was written. false: nobody reads it any more. */
  readonly stdoutTaken?: () => Promise<boolean>;
  readonly isTTY: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}
