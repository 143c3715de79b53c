/** Streams and environment of the process. */
export interface Io {
  /** Text or JSON. Control characters but line feeds and colours are escaped. */
  stdout(text: string): void;
  stderr(text: string): void;
  /** Moves the terminal's cursor. */
  readonly cursor?: (codes: string) => void;
  /** Resolves when standard output has room again; false: its reader has closed it. */
  readonly stdoutTaken?: () => Promise<boolean>;
  readonly isTTY: boolean;
  /** Width of the terminal in columns; undefined: standard output is none. */
  readonly columns?: number | undefined;
  /** Its height in lines. */
  readonly rows?: number | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}
