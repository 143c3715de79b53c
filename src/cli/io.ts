/** What a command may use of the process around it. */
export interface Io {
  stdout(text: string): void;
  stderr(text: string): void;
  readonly isTTY: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}
