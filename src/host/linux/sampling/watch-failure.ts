/** Why a watch is not live, and the remedy. */
export interface WatchFailure {
  readonly reason: string;
  readonly hint: string | undefined;
}
