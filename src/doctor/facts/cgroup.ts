/** The cgroup filesystem as this process sees it. */
export interface CgroupFacts {
  /** Where the memory controller is; undefined: nowhere. */
  readonly memory: { readonly version: 1 | 2; readonly mountPoint: string } | undefined;
  /** Whether a cgroup2 mount is there, with controllers or without. */
  readonly unified: boolean;
  /** Whether the mount shows the machine's root cgroup. */
  readonly rootVisible: boolean;
  /** Whether the mount may be written to. */
  readonly writable: boolean;
  /** Whether this process is in the machine's own cgroup, process and user namespaces; undefined: it cannot be told. */
  readonly namespaces: Readonly<Record<'cgroup' | 'pid' | 'user', 'initial' | 'own' | undefined>>;
  /** Of the cgroups whose children are workloads; empty on v1, whose hierarchies have their controller everywhere. */
  readonly delegations: readonly DelegationFacts[];
}

/** Whether the memory controller reaches the children of a cgroup (v2: cgroup.subtree_control of it and of all above). */
export interface DelegationFacts {
  readonly path: string;
  /** The uppermost cgroup that does not hand it down; undefined: all do. */
  readonly stopsAt: string | undefined;
}
