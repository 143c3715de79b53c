/** A step of `reclaim`, and whether it could be carried out here. */
export interface ReclaimStepFacts {
  readonly name: string;
  /** Of its programs those that are not there; undefined: there is something to run. A step that has nothing to look after here has no programs. */
  readonly missing: string | undefined;
  readonly commands: number;
}

export interface ReclaimFacts {
  readonly steps: readonly ReclaimStepFacts[];
  /** Whether there is systemd to run them. */
  readonly systemd: boolean;
}
