/** The cgroup filesystem as this process sees it. */
export interface CgroupFacts {
  /** The mount of the memory controller; undefined: none. */
  readonly memory: { readonly version: 1 | 2; readonly mountPoint: string } | undefined;
  /** Whether cgroup2 is mounted, with or without controllers. */
  readonly unified: boolean;
  /** Whether the mount shows the machine's root cgroup. */
  readonly rootVisible: boolean;
  readonly writable: boolean;
  /** Whether this process is in the initial namespaces; undefined: unknown. */
  readonly namespaces: Readonly<Record<'cgroup' | 'pid' | 'user', 'initial' | 'own' | undefined>>;
  /** Of the parents of workloads; empty on v1, where every cgroup has the controller. */
  readonly delegations: readonly DelegationFacts[];
}

/**
 * Whether the memory controller is enabled for the children of a cgroup (cgroup.subtree_control of it and of its
 * ancestors).
 */
export interface DelegationFacts {
  readonly path: string;
  /** The topmost cgroup that does not enable it; undefined: all do. */
  readonly stopsAt: string | undefined;
}
