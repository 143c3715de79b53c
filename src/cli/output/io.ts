/** Streams and environment of the process. */
export interface Io {
  stdout(text: string): void;
  stderr(text: string): void;
  /** Resolves when standard output has room again; false: its reader has closed it. */
  readonly stdoutTaken?: () => Promise<boolean>;
  readonly isTTY: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}
