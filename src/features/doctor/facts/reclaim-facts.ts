export interface ReclaimStepFacts {
  readonly name: string;
  /** A program that does not exist; undefined: all exist. */
  readonly missing: string | undefined;
  /** 0: the step has nothing to do on this machine. */
  readonly commands: number;
}

export interface ReclaimFacts {
  readonly steps: readonly ReclaimStepFacts[];
  readonly systemd: boolean;
}
