import { commandLine, pathWord } from './unit-line.js';

export const SERVICE = 'evictd.service';
export const SLICE = 'evictd.slice';

/** What the service runs. */
export interface UnitOptions {
  /** The first line's sentence: who wrote the file. */
  readonly origin: string;
  /** How evictd is called: absolute paths of Node and the program. */
  readonly program: readonly string[];
  /** The operations page. */
  readonly documentation: string | undefined;
  /** Named even where it is the default one: a file that is named must be there. */
  readonly configFile: string;
  /** Names of directories below /run that systemd makes for it, beyond evictd. */
  readonly runtime: readonly string[];
  /** Directories that evictd writes to, beyond those that systemd makes for it. */
  readonly writable: readonly string[];
}

/**
 * At the top of the hierarchy, because memory.min protects only as far as every ancestor has it: in system.slice a service gets none (kernel,
 * admin-guide/cgroup-v2.rst, memory.min).
 */
export function sliceUnit(origin: string): string {
  return `# ${origin}
[Unit]
Description=evictd and nothing else: its memory is not reclaimed

[Slice]
MemoryMin=${MEMORY_MIN}
# What fills the memory mostly fills the processors, too. evictd needs little of them, but that at once.
CPUWeight=10000
`;
}

/** Resident memory of evictd is 60 MiB (docs/benchmarks.md), with Node 24 76; and some for many workloads. */
const MEMORY_MIN = '128M';

/** The service. Each line that is not systemd's usual says why it is there: an operator reads it with `systemctl cat`. */
export function serviceUnit({ origin, program, documentation, configFile, runtime, writable }: UnitOptions): string {
  const config = ['--config', configFile];
  const run = commandLine([...program, 'run', ...config, { variable: 'RUN_OPTIONS' }]);
  const reload = commandLine([...program, 'reload', '--pid', { variable: 'MAINPID' }, ...config]);
  return `# ${origin}
[Unit]
Description=evictd, the node-pressure eviction monitor
${documentation === undefined ? '' : `Documentation=file://${encodeURI(documentation)}\n`}# A guard is started again for as long as it takes.
StartLimitIntervalSec=0

[Service]
Type=notify
NotifyAccess=main
SyslogIdentifier=evictd
# For options of \`evictd run\` alone, like --dry-run: systemctl edit evictd; more than one word as Environment="RUN_OPTIONS=--record FILE"
Environment=RUN_OPTIONS=
ExecStart=${run}
# Checks the files as \`evictd config check\` does: errors fail it, with their places. Evictd is told all the same, keeps the configuration before, and records that.
# Without errors it returns when evictd has taken them.
ExecReload=${reload}
Restart=always
RestartSec=1s
# The command line or the configuration is wrong, or its file is gone: the next start would end the same way.
RestartPreventExitStatus=64 78
# evictd tells of passes over the node, not of time. No core dump: that would take memory and disk when both may be short.
WatchdogSec=30s
WatchdogSignal=SIGKILL
TimeoutStopSec=25s

Slice=${SLICE}
MemoryMin=${MEMORY_MIN}
MemorySwapMax=0
OOMScoreAdjust=-999
OOMPolicy=continue
ManagedOOMPreference=omit
Nice=-20
LimitNICE=-20
LimitMEMLOCK=infinity

StateDirectory=evictd
StateDirectoryMode=0750
RuntimeDirectory=${['evictd', ...runtime].map(pathWord).join(' ')}
RuntimeDirectoryMode=0700
# What a restart goes on with: grace periods, evictions in flight, records on their way to the journal.
RuntimeDirectoryPreserve=yes
${writable.length === 0 ? '' : `ReadWritePaths=${writable.map((path) => pathWord(`-${path}`)).join(' ')}\n`}
# Ending processes of others; cgroups delegated to users, and oom_score_adj; PSI windows below 2 s; /dev/kmsg; /proc/PID/fd.
CapabilityBoundingSet=CAP_KILL CAP_DAC_OVERRIDE CAP_SYS_RESOURCE CAP_SYSLOG CAP_SYS_PTRACE
SystemCallFilter=@system-service process_mrelease
SystemCallErrorNumber=EPERM
SystemCallArchitectures=native
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
DevicePolicy=closed
DeviceAllow=/dev/kmsg r
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
KeyringMode=private
UMask=0077
# Left out, because evictd could not do its work: ProtectControlGroups (it writes cgroup.kill), MemoryDenyWriteExecute (V8 compiles), PrivateDevices and
# ProtectKernelLogs (/dev/kmsg), ProtectProc and ProcSubset (all processes, /proc/pressure), PrivateNetwork (metrics), PrivateUsers and User (root's files).

[Install]
WantedBy=multi-user.target
`;
}
