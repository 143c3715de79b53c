import { signalAbsence, type Platform } from '../core/operating-system.js';
import { isSignal } from '../core/signal.js';
import { isWindowsPath } from '../core/windows-path.js';
import { isWindowsSource } from '../core/workload-source.js';
import type { KeyPath } from './key.js';
import type { Layer } from './layer.js';
import type { Layers } from './layered.js';
import type { Report } from './report.js';
import type { Settings } from './schema.js';

/** Something that was written and that there is on another operating system only. */
interface Elsewhere {
  readonly path: KeyPath;
  readonly message: string;
  readonly hint: string;
  /** Left out: EVICTD_CONFIG_PLATFORM, at the key. */
  readonly code?: 'EVICTD_CONFIG_PATH';
}

const REMOVE = 'remove it';
const MAPS = ['evictionHard', 'evictionSoft', 'evictionSoftGracePeriod', 'evictionMinimumReclaim'] as const;

/** What a configuration says that means nothing on the operating system that it is for: it would be silently without effect. */
export function refuseElsewhere({ files, flags }: Layers, { os }: Platform, report: Report): void {
  for (const layer of [...files, flags]) {
    const found = [...paths(layer.settings, os), ...sources(layer.settings, os), ...(os === 'windows' ? ofLinux(layer) : [])];
    for (const { path, message, hint, code = 'EVICTD_CONFIG_PLATFORM' } of found) {
      report.issue(code, message, code === 'EVICTD_CONFIG_PATH' ? layer.at(path) : layer.keyAt(path), hint);
    }
  }
}

function paths({ filesystems = {}, stateDirectory, runtimeDirectory }: Settings, os: Platform['os']): Elsewhere[] {
  const written: readonly [KeyPath, string | undefined][] = [
    ...Object.entries(filesystems).map(([role, path]): [KeyPath, string | undefined] => [['filesystems', role], path]),
    [['stateDirectory'], stateDirectory],
    [['runtimeDirectory'], runtimeDirectory],
  ];
  return written.flatMap(([path, text]) => {
    if (text === undefined || isWindowsPath(text) === (os === 'windows')) return [];
    const hint = os === 'windows' ? 'write it with its drive: C:\\ProgramData\\evictd' : 'write it from the top: /var/lib/evictd';
    return [{ path, message: `${path.join('.')}: not an absolute path: ${JSON.stringify(text)}`, hint, code: 'EVICTD_CONFIG_PATH' }];
  });
}

function sources({ workloads = [] }: Settings, os: Platform['os']): Elsewhere[] {
  return workloads.flatMap((source, index) => {
    if (isWindowsSource(source) === (os === 'windows')) return [];
    const [kind = ''] = Object.keys(source);
    const [there, hint] =
      os === 'windows'
        ? ['Linux', 'name a job object (job: NAME), a service (service: NAME) or programs (process: { path: C:\\Apps\\** })']
        : [
            'Windows',
            'name a cgroup (cgroup: /workload.slice), units (systemd: { slices: [batch.slice] }) or a runtime (cri: { endpoint: … })',
          ];
    return [{ path: ['workloads', index, kind], message: `workloads[${String(index)}]: ${kind}: is a source of ${there}`, hint }];
  });
}

/** Of a Linux that Windows has not. */
function ofLinux({ settings, written }: Layer): Elsewhere[] {
  const signals = MAPS.flatMap((key) => Object.keys(settings[key] ?? {}).map((name): [KeyPath, string] => [[key, name], name]));
  const operands = (settings.thresholds ?? []).flatMap(({ when }, index) =>
    when.map(({ signal }): [KeyPath, string] => [['thresholds', index, 'when'], signal]),
  );
  const absent = [...signals, ...operands].flatMap(([path, name]): Elsewhere[] => {
    const why = isSignal(name) ? signalAbsence(name, 'windows') : undefined;
    return why === undefined ? [] : [{ path, message: `${String(path[0])}: there is no ${name} on Windows: ${why}`, hint: REMOVE }];
  });
  const keys = KEYS.filter(({ key, isSet }) => key in written && isSet(settings)).map(({ key, why }): Elsewhere => {
    return { path: [key], message: `${key} means nothing on Windows: ${why}`, hint: REMOVE };
  });
  return [...absent, ...keys, ...rules(settings)];
}

const KEYS: readonly { readonly key: keyof Settings; readonly why: string; readonly isSet: (settings: Settings) => boolean }[] = [
  { key: 'node', why: 'the node is the machine, for there are no cgroups', isSet: ({ node }) => node?.cgroup !== undefined },
  { key: 'allocatable', why: 'there are no cgroups', isSet: ({ allocatable }) => allocatable !== undefined },
  { key: 'pressureWindow', why: 'it does not measure how long tasks wait', isSet: ({ pressureWindow }) => pressureWindow !== undefined },
  { key: 'oomScoreAdj', why: 'it kills nobody for want of memory', isSet: ({ oomScoreAdj = 'off' }) => oomScoreAdj !== 'off' },
  { key: 'reclaim', why: 'its steps are run by systemd or a container runtime', isSet: ({ reclaim = [] }) => reclaim.length > 0 },
  ...(['shutdownGracePeriod', 'shutdownGracePeriodCriticalPods'] as const).map((key) => {
    return { key, why: 'it is systemd-logind that holds a shutdown up', isSet: (settings: Settings) => (settings[key] ?? 0n) !== 0n };
  }),
  {
    key: 'shutdownGracePeriodByPodPriority',
    why: 'it is systemd-logind that holds a shutdown up',
    isSet: ({ shutdownGracePeriodByPodPriority: periods = [] }) => periods.length > 0,
  },
];

function rules({ rules: written = [] }: Settings): Elsewhere[] {
  return written.flatMap(({ match, liftProtection, directories }, index) => {
    const refuse = (key: KeyPath, why: string): Elsewhere => {
      return {
        path: ['rules', index, ...key],
        message: `rules[${String(index)}].${key.join('.')} means nothing on Windows: ${why}`,
        hint: REMOVE,
      };
    };
    return [
      ...(match.labels === undefined ? [] : [refuse(['match', 'labels'], 'only pods have labels')]),
      ...(liftProtection === undefined ? [] : [refuse(['liftProtection'], 'what the system needs is protected whatever a rule says')]),
      ...(directories === undefined ? [] : [refuse(['directories'], 'nobody is evicted for what lies in a directory')]),
    ];
  });
}
