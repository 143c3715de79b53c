/** What a machine runs, by which its first configuration differs. */
export const PROFILES = ['server', 'desktop', 'containers', 'kubelet'] as const;

export type Profile = (typeof PROFILES)[number];

export interface ProfileFacts {
  /** The JSON Schema, for editors. */
  readonly schema: string;
  /** Socket of a container runtime with CRI; undefined: none, as with Docker and Podman alone. */
  readonly endpoint: string | undefined;
}

const WORKLOADS: Readonly<Record<Profile, (facts: ProfileFacts) => string>> = {
  server: () => `# Services may be evicted. evictd never evicts what the machine needs (sshd, systemd-*, dbus, …).
workloads:
  - systemd: { slices: [system.slice] }

rules:
  # Never evicted: name what holds your data.
  - { match: { name: 'postgres*' }, critical: true }
  - { match: { name: 'mariadb*' }, critical: true }
  - { match: { name: 'mysql*' }, critical: true }
  # Evicted first: the lowest priority.
  - { match: { name: 'batch-*' }, priority: -10 }
`,
  desktop: () => `# Programs of users may be evicted, each alone. evictd never evicts the session and the desktop itself.
workloads:
  - systemd: { slices: [user.slice] }

rules:
  # Evicted first: the lowest priority.
  - { match: { name: '*chrome*' }, priority: -10 }
  - { match: { name: '*firefox*' }, priority: -10 }

# A desktop is slow long before its memory is used up.
thresholds:
  - { when: 'memory.pressure.full>20% & memory.available<10%', kind: soft, for: 5s }

# The desktop tells its user what was ended.
notifications: { desktop: true }
`,
  containers: ({ endpoint }) => `# Containers may be evicted.
workloads:
${endpoint === undefined ? "  - systemd: { units: ['docker-*.scope', 'libpod-*.scope'] }" : `  - cri: { endpoint: ${endpoint} }`}

rules:
  # Never evicted: ${endpoint === undefined ? 'names as docker ps or podman ps shows them' : 'NAMESPACE/POD, or labels'}.
  - { match: { name: '${endpoint === undefined ? 'db-*' : 'production/*'}' }, critical: true }
  # Evicted first: the lowest priority.
  - { match: { name: '${endpoint === undefined ? 'batch-*' : 'batch/*'}' }, priority: -10 }
`,
  kubelet: ({
    endpoint,
  }) => `# The kubelet evicts its pods. evictd shows them, and evicts services beside them before the kubelet has to act.
workloads:
  - cri: { endpoint: ${endpoint ?? 'unix:///run/containerd/containerd.sock'} }
  - systemd: { slices: [batch.slice] }

rules:
  - { match: { name: 'backup*' }, priority: -10 }
`,
};

/** evictionHard of a profile where it is not the default. */
const HARD: Readonly<Record<Profile, string>> = {
  server: '{ memory.available: 3%, nodefs.available: 10%, nodefs.inodesFree: 5% }',
  desktop: '{ memory.available: 5%, nodefs.available: 5%, nodefs.inodesFree: 5% }',
  containers: '{ memory.available: 3%, nodefs.available: 12%, nodefs.inodesFree: 5% }',
  kubelet: '{ memory.available: 300Mi, nodefs.available: 12%, nodefs.inodesFree: 7% }',
};

export function profileText(profile: Profile, facts: ProfileFacts): string {
  return `# yaml-language-server: $schema=${facts.schema}
# evictd on a machine of the profile ${profile}. evictd config check checks this file, evictd reload applies it.
apiVersion: evictd.dev/v1
kind: EvictdConfiguration

${WORKLOADS[profile](facts)}
# Evict at once when less than this is available.
evictionHard: ${HARD[profile]}
`;
}
