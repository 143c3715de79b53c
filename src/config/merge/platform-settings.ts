import type { Platform } from '../../core/signal/operating-system.js';
import { isSignal, SIGNAL_FACTS } from '../../core/signal/signal.js';
import { isWindowsPath } from '../../core/windows/windows-path.js';
import { kindOf } from '../../workloads/kinds/source-spec.js';
import { SOURCES } from '../../workloads/kinds/sources.js';
import type { KeyPath, Report } from '../value/report.js';
import type { Layer, Layers } from './layer.js';
import type { Settings } from '../parse/schema.js';

/** A setting of the other operating system. */
interface Foreign {
  readonly path: KeyPath;
  readonly message: string;
  readonly hint: string;
  /** Absent: EVICTD_CONFIG_PLATFORM, at the key. */
  readonly code?: 'EVICTD_CONFIG_PATH';
}

const REMOVE = 'remove it';
const MAPS = ['evictionHard', 'evictionSoft', 'evictionSoftGracePeriod', 'evictionMinimumReclaim'] as const;

/** Reports settings of the other operating system, which would have no effect. */
export function rejectOtherPlatforms({ files, flags }: Layers, { os }: Platform, report: Report): void {
  for (const layer of [...files, flags]) {
    const found = [...paths(layer.settings, os), ...sources(layer.settings, os), ...(os === 'windows' ? linuxOnly(layer) : [])];
    for (const { path, message, hint, code = 'EVICTD_CONFIG_PLATFORM' } of found) {
      report.issue(code, message, code === 'EVICTD_CONFIG_PATH' ? layer.at(path) : layer.keyAt(path), hint);
    }
  }
}

function paths({ filesystems = {}, stateDirectory, runtimeDirectory }: Settings, os: Platform['os']): Foreign[] {
  const written: readonly [KeyPath, string | undefined][] = [
    ...Object.entries(filesystems).map(([role, path]): [KeyPath, string | undefined] => [['filesystems', role], path]),
    [['stateDirectory'], stateDirectory],
    [['runtimeDirectory'], runtimeDirectory],
  ];
  return written.flatMap(([path, text]) => {
    if (text === undefined || isWindowsPath(text) === (os === 'windows')) return [];
    const hint = os === 'windows' ? 'write an absolute path: C:\\ProgramData\\evictd' : 'write an absolute path: /var/lib/evictd';
    return [{ path, message: `${path.join('.')}: not an absolute path: ${JSON.stringify(text)}`, hint, code: 'EVICTD_CONFIG_PATH' }];
  });
}

function sources({ workloads = [] }: Settings, os: Platform['os']): Foreign[] {
  return workloads.flatMap((source, index) => {
    const { kind, os: there } = kindOf(source).kind;
    if (there === os) return [];
    const message = `workloads[${String(index)}]: ${kind}: exists only on ${there === 'linux' ? 'Linux' : 'Windows'}`;
    const examples = SOURCES.filter((each) => each.os === os).map(({ example }) => example);
    const hint = `use ${examples.slice(0, -1).join(', ')} or ${examples.at(-1) ?? ''}`;
    return [{ path: ['workloads', index, kind], message, hint }];
  });
}

function linuxOnly({ settings, written }: Layer): Foreign[] {
  const signals = MAPS.flatMap((key) => Object.keys(settings[key] ?? {}).map((name): [KeyPath, string] => [[key, name], name]));
  const operands = (settings.thresholds ?? []).flatMap(({ when }, index) =>
    when.map(({ signal }): [KeyPath, string] => [['thresholds', index, 'when'], signal]),
  );
  const absent = [...signals, ...operands].flatMap(([path, name]): Foreign[] => {
    const why = isSignal(name) ? SIGNAL_FACTS[name].absentOnWindows : undefined;
    return why === undefined ? [] : [{ path, message: `${String(path[0])}: ${name} does not exist on Windows: ${why}`, hint: REMOVE }];
  });
  const keys = KEYS.filter(({ key, isSet }) => key in written && isSet(settings)).map(({ key, why }): Foreign => {
    return { path: [key], message: `${key} has no effect on Windows: ${why}`, hint: REMOVE };
  });
  return [...absent, ...keys, ...rules(settings)];
}

const KEYS: readonly { readonly key: keyof Settings; readonly why: string; readonly isSet: (settings: Settings) => boolean }[] = [
  { key: 'node', why: 'Windows has no cgroups, the node is the whole machine', isSet: ({ node }) => node?.cgroup !== undefined },
  { key: 'allocatable', why: 'Windows has no cgroups', isSet: ({ allocatable }) => allocatable !== undefined },
  { key: 'pressureWindow', why: 'Windows has no pressure stall information', isSet: ({ pressureWindow }) => pressureWindow !== undefined },
  { key: 'oomScoreAdj', why: 'Windows has no OOM killer', isSet: ({ oomScoreAdj = 'off' }) => oomScoreAdj !== 'off' },
  { key: 'hooks', why: 'evictd runs hooks only on Linux', isSet: ({ hooks = {} }) => Object.keys(hooks).length > 0 },
  {
    key: 'notifications',
    why: 'only its webhook exists there',
    isSet: ({ notifications: { webhook: _webhook, ...others } = {} }) => Object.values(others).includes(true),
  },
  { key: 'kubernetes', why: 'evictd finds pods by their cgroups', isSet: ({ kubernetes }) => kubernetes !== undefined },
  { key: 'controlSocket', why: 'there is no such socket', isSet: ({ controlSocket }) => controlSocket?.group !== undefined },
  { key: 'reclaim', why: 'systemd or a container runtime runs its steps', isSet: ({ reclaim = [] }) => reclaim.length > 0 },
  { key: 'policies', why: 'they read and act on cgroups', isSet: ({ policies = [] }) => policies.length > 0 },
  ...(['shutdownGracePeriod', 'shutdownGracePeriodCriticalPods'] as const).map((key) => {
    return { key, why: 'it needs systemd-logind', isSet: (settings: Settings) => (settings[key] ?? 0n) !== 0n };
  }),
  {
    key: 'shutdownGracePeriodByPodPriority',
    why: 'it needs systemd-logind',
    isSet: ({ shutdownGracePeriodByPodPriority: periods = [] }) => periods.length > 0,
  },
];

function rules({ rules: written = [] }: Settings): Foreign[] {
  return written.flatMap(({ match, liftProtection, directories }, index) => {
    const refuse = (key: KeyPath, why: string): Foreign => {
      return {
        path: ['rules', index, ...key],
        message: `rules[${String(index)}].${key.join('.')} has no effect on Windows: ${why}`,
        hint: REMOVE,
      };
    };
    return [
      ...(match.labels === undefined ? [] : [refuse(['match', 'labels'], 'only pods have labels')]),
      ...(liftProtection === undefined ? [] : [refuse(['liftProtection'], 'evictd always protects system processes there')]),
      ...(directories === undefined ? [] : [refuse(['directories'], 'evictd does not evict for the contents of a directory there')]),
    ];
  });
}
