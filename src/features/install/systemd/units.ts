/** A variable of the unit's environment, which systemd expands. */
export interface UnitVariable {
  readonly variable: string;
}

/**
 * A command line for ExecStart= that passes each word unchanged: systemd.service(5), "Command lines"; systemd.unit(5),
 * "Specifiers".
 */
export function commandLine(words: readonly (string | UnitVariable)[]): string {
  return words
    .map((word) => (typeof word === 'string' ? quoted(word.replaceAll('%', '%%').replaceAll('$', '$$$$')) : `$${word.variable}`))
    .join(' ');
}

/** The words of a line of `commandLine`; a variable begins with `$`. */
export function wordsOf(line: string): readonly string[] {
  return Array.from(line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g), ([, inQuotes, plain = '']) => {
    const word = inQuotes?.replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_: string, code: string | undefined, escaped: string) =>
      code === undefined ? escaped : String.fromCharCode(parseInt(code, 16)),
    );
    return (word ?? plain).replaceAll('%%', '%').replaceAll('$$', '$');
  });
}

/** A path in a list of paths (ReadWritePaths=, RuntimeDirectory=); with `-` before it, it need not exist. */
export function pathWord(path: string): string {
  return quoted(path.replaceAll('%', '%%'));
}

const PLAIN = /^[A-Za-z0-9_./:=@%$+,-]+$/;

function quoted(word: string): string {
  if (PLAIN.test(word)) return word;
  const escaped = word
    .replace(/["\\]/g, '\\$&')
    .replace(/\p{Cc}/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return `"${escaped}"`;
}

export const SERVICE = 'evictd.service';
export const SLICE = 'evictd.slice';

export interface UnitOptions {
  /** The first line of the file: its origin. */
  readonly origin: string;
  /** Absolute paths of Node and the program. */
  readonly program: readonly string[];
  /** The operations page. */
  readonly documentation: string | undefined;
  /** Passed with --config even if it is the default: evictd then requires that it exists. */
  readonly configFile: string;
  /** Absolute: a kubelet's drop-ins. undefined: none. */
  readonly configDirectory: string | undefined;
  /** Directories below /run that systemd creates, besides evictd. */
  readonly runtime: readonly string[];
  /** Directories that evictd writes to, besides those that systemd creates. */
  readonly writable: readonly string[];
}

/**
 * A top-level slice: memory.min protects only as far as every ancestor has it, and system.slice has none
 * (admin-guide/cgroup-v2.rst).
 */
export function sliceUnit(origin: string): string {
  return `# ${origin}
[Unit]
Description=evictd only: the kernel does not reclaim its memory

[Slice]
MemoryMin=${MEMORY_MIN}
# Workloads that fill the memory often also use all CPUs. evictd needs little CPU time, but at once.
CPUWeight=10000
`;
}

/** evictd uses 60 MiB (docs/benchmarks.md), 76 MiB with Node 24, and more for many workloads. */
const MEMORY_MIN = '128M';

const PRIORITY = `Nice=-20
LimitNICE=-20
# For the thread that watches and carries out standing orders: it uses next to no CPU time.
LimitRTPRIO=1
`;

const SANDBOX = `# In order: end processes; cgroups of users; PSI windows below 2 s and oom_score_adj; /dev/kmsg; /proc/PID/fd.
CapabilityBoundingSet=CAP_KILL CAP_DAC_OVERRIDE CAP_SYS_RESOURCE CAP_SYSLOG CAP_SYS_PTRACE
SystemCallFilter=@system-service process_mrelease
SystemCallErrorNumber=EPERM
SystemCallArchitectures=native
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
DevicePolicy=closed
DeviceAllow=/dev/kmsg rw
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictNamespaces=yes
RestrictSUIDSGID=yes
LockPersonality=yes
KeyringMode=private
UMask=0077
# Not set, because evictd needs the access: ProtectControlGroups (it writes cgroup.kill), MemoryDenyWriteExecute (V8
# compiles), PrivateDevices and ProtectKernelLogs (/dev/kmsg), ProtectProc and ProcSubset (all processes, /proc/pressure),
# PrivateNetwork (metrics), PrivateUsers and User (root's files), RestrictRealtime (LimitRTPRIO).
`;

/** Runs its arguments if an evictd has left something throttled or frozen. */
const LIFT = 'for held in /run/evictd/held-*.json; do [ ! -e "$held" ] || exec "$0" "$@"; done';

/** The service. A comment explains each unusual line: operators read it with `systemctl cat`. */
export function serviceUnit({ origin, program, documentation, configFile, configDirectory, runtime, writable }: UnitOptions): string {
  const config = ['--config', configFile, ...(configDirectory === undefined ? [] : ['--config-dir', configDirectory])];
  const run = commandLine([...program, 'run', ...config, { variable: 'RUN_OPTIONS' }]);
  const reload = commandLine([...program, 'reload', '--pid', { variable: 'MAINPID' }, ...config]);
  const lift = commandLine(['/bin/sh', '-c', LIFT, ...program, 'restore', '--restraints']);
  return `# ${origin}
[Unit]
Description=evictd, the node-pressure eviction monitor
${documentation === undefined ? '' : `Documentation=file://${encodeURI(documentation)}\n`}# Restart without limit.
StartLimitIntervalSec=0

[Service]
Type=notify
NotifyAccess=main
SyslogIdentifier=evictd
# Options of \`evictd run\`, like --dry-run: systemctl edit evictd. Several words: Environment="RUN_OPTIONS=--record FILE"
Environment=RUN_OPTIONS=
ExecStart=${run}
# Fails with the errors that \`evictd config check\` finds; evictd then keeps its configuration and records that.
# Otherwise returns when evictd has applied the new configuration.
ExecReload=${reload}
# What a killed evictd has throttled or frozen does not wait for the next one, which may not start.
ExecStopPost=-${lift}
Restart=always
RestartSec=1s
# Wrong command line or configuration, or no configuration file: a restart would fail the same way.
RestartPreventExitStatus=64 78
# evictd notifies after each pass over the node. SIGKILL: a core dump would use memory and disk when both are short.
WatchdogSec=30s
WatchdogSignal=SIGKILL
# Nor of a crash.
LimitCORE=0
TimeoutStopSec=25s
# evictd ends its children itself. One that waits for a filesystem that hangs does not delay a restart.
KillMode=process

Slice=${SLICE}
MemoryMin=${MEMORY_MIN}
# Node limits V8's heap to about half of this, and evictd restarts where that is used up.
MemoryMax=512M
MemorySwapMax=0
OOMScoreAdjust=-999
OOMPolicy=continue
ManagedOOMPreference=omit
${PRIORITY}LimitMEMLOCK=infinity

StateDirectory=evictd
StateDirectoryMode=0750
RuntimeDirectory=${['evictd', ...runtime].map(pathWord).join(' ')}
RuntimeDirectoryMode=0700
# State over a restart: grace periods, evictions in flight, records that are not in the journal yet.
RuntimeDirectoryPreserve=yes
${writable.length === 0 ? '' : `ReadWritePaths=${writable.map((path) => pathWord(`-${path}`)).join(' ')}\n`}
${SANDBOX}
[Install]
WantedBy=multi-user.target
`;
}
