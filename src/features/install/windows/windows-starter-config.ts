/**
 * %ProgramData%\evictd\config.yaml of a new installation: the defaults, and no workloads, so that evictd evicts
 * nothing.
 */
export const WINDOWS_STARTER_CONFIG = `# Configuration of evictd. \`evictd config check\` checks it, \`evictd reload\` applies it.
apiVersion: evictd.dev/v1
kind: EvictdConfiguration

# The workloads that evictd may evict. By default none. evictd never evicts system processes.
workloads: []
#  - job: batch
#  - service: 'worker-*'
#  - process: { path: 'C:\\Apps\\**' }

# Which workloads evictd never evicts (critical), and which it evicts first (the lowest priority).
rules: []
#  - match: { name: 'postgres.exe' }
#    critical: true
#  - match: { path: 'C:\\Apps\\batch\\*' }
#    priority: -10

# When evictd evicts. These are the defaults.
evictionHard:
  memory.available: 500Mi
  nodefs.available: 10%
`;
