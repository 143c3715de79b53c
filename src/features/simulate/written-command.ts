/** An action as it was written, in the order of the command line. */
export interface WrittenAction {
  readonly option: 'pressure' | 'drain' | 'taint' | 'fail' | 'add';
  readonly values: string[];
  /** --replicas of `--add`. */
  replicas?: number;
}

export interface SimulateOptions {
  readonly kubeconfig?: string;
  readonly policy?: string;
  readonly schedulerConfig?: string;
  readonly startTime: string;
  readonly horizon: string;
  readonly output: 'text' | 'json';
  readonly html?: string;
  readonly explain?: string;
  readonly scores?: true;
  readonly strict?: true;
}
