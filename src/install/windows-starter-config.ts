/** %ProgramData%\evictd\config.yaml of a new installation: what holds by default, and what is to be filled in. With it evictd watches, and evicts nobody. */
export const WINDOWS_STARTER_CONFIG = `# evictd's configuration. \`evictd config check\` says what is wrong with it and what it will not do, \`evictd reload\` takes it over.
apiVersion: evictd.dev/v1
kind: EvictdConfiguration

# Whom evictd may evict. Nobody, until it is said here. What Windows needs is never evicted.
workloads: []
#  - job: batch
#  - service: 'worker-*'
#  - process: { path: 'C:\\Apps\\**' }

# Who is never evicted, and who goes first (the lowest priority).
rules: []
#  - match: { name: 'postgres.exe' }
#    critical: true
#  - match: { path: 'C:\\Apps\\batch\\*' }
#    priority: -10

# When. These are the defaults.
evictionHard:
  memory.available: 500Mi
  nodefs.available: 10%
`;
