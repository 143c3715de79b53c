import type { SourcePosition } from '../../errors.js';
import type { SettingsDocument } from '../value/document.js';
import { keyText, type KeyPath, type Report } from '../value/report.js';

/** The flags of the command line by commander's names. */
export interface ConfigFlags {
  readonly compatibility?: string;
  readonly evictionHard?: readonly string[];
  readonly evictionSoft?: readonly string[];
  readonly evictionSoftGracePeriod?: readonly string[];
  readonly evictionMinimumReclaim?: readonly string[];
  readonly evictionMaxPodGracePeriod?: string;
  readonly evictionPressureTransitionPeriod?: string;
  readonly nodeCgroup?: string;
  readonly workloadCgroup?: readonly string[];
  readonly workloadSlice?: readonly string[];
  readonly workloadUnit?: readonly string[];
  readonly workloadJob?: readonly string[];
  readonly workloadService?: readonly string[];
  readonly workloadProcess?: readonly string[];
  readonly oomScoreAdj?: string;
  readonly monitoringInterval?: string;
  readonly metricsListen?: string;
  readonly stateDirectory?: string;
  readonly runtimeDirectory?: string;
  readonly logFormat?: string;
  readonly logLevel?: string;
}

/** Flags of pairs, and the separator of signal and value (kubelet: LangleSeparatedMapStringString, MapStringString). */
const MAPS = {
  evictionHard: ['--eviction-hard', '<'],
  evictionSoft: ['--eviction-soft', '<'],
  evictionSoftGracePeriod: ['--eviction-soft-grace-period', '='],
  evictionMinimumReclaim: ['--eviction-minimum-reclaim', '='],
} as const;
export type MapFlag = keyof typeof MAPS;
const MAP_FLAGS = Object.keys(MAPS) as readonly MapFlag[];

/** Flags that set one key to a text. */
const TEXTS = {
  compatibility: ['--compatibility', ['compatibility']],
  evictionPressureTransitionPeriod: ['--eviction-pressure-transition-period', ['evictionPressureTransitionPeriod']],
  nodeCgroup: ['--node-cgroup', ['node', 'cgroup']],
  oomScoreAdj: ['--oom-score-adj', ['oomScoreAdj']],
  monitoringInterval: ['--monitoring-interval', ['monitoringInterval']],
  metricsListen: ['--metrics-listen', ['metrics', 'listen']],
  stateDirectory: ['--state-directory', ['stateDirectory']],
  runtimeDirectory: ['--runtime-directory', ['runtimeDirectory']],
  logFormat: ['--log-format', ['log', 'format']],
  logLevel: ['--log-level', ['log', 'level']],
} as const;

/**
 * Flags that name workloads, with the entry of `workloads` for each text. Together they replace the list of the files.
 */
const SOURCES = {
  workloadCgroup: ['--workload-cgroup', (cgroup: string) => ({ cgroup })],
  workloadSlice: ['--workload-slice', (slice: string) => ({ systemd: { slices: [slice] } })],
  workloadUnit: ['--workload-unit', (unit: string) => ({ systemd: { units: [unit] } })],
  workloadJob: ['--workload-job', (job: string) => ({ job })],
  workloadService: ['--workload-service', (service: string) => ({ service })],
  workloadProcess: ['--workload-process', (path: string) => ({ process: { path } })],
} as const;

/** Drops the options that are not configuration flags. */
export function configFlags(options: ConfigFlags): ConfigFlags {
  const names: readonly string[] = [...MAP_FLAGS, ...Object.keys(TEXTS), 'evictionMaxPodGracePeriod', ...Object.keys(SOURCES)];
  return Object.fromEntries(Object.entries(options).filter(([name]) => names.includes(name)));
}

/**
 * The flags as settings. A position's file is the flag, its column the offset in the flag's text, from 1.
 *
 * @param skipsEmpty  ignores a comma too many, as the kubelet does
 */
export function readFlags(flags: ConfigFlags, report: Report, skipsEmpty = false): SettingsDocument {
  const value: Record<string, unknown> = {};
  const places = new Map<string, { key: SourcePosition; value: SourcePosition }>();
  const set = (path: KeyPath, text: unknown, at: SourcePosition, keyAt = at): void => {
    places.set(keyText(path), { key: keyAt, value: at });
    const [first = '', second] = path;
    if (second === undefined) value[first] = text;
    else value[first] = { ...(value[first] as object | undefined), [second]: text };
  };
  for (const name of MAP_FLAGS) {
    const texts = flags[name];
    if (texts === undefined) continue;
    set([name], {}, { file: MAPS[name][0] });
    for (const text of texts) readPairs(name, text, set, report, skipsEmpty);
  }
  for (const [name, [file, path]] of Object.entries(TEXTS)) {
    const text = flags[name as keyof typeof TEXTS];
    if (text !== undefined) set(path, text, { file, column: 1 });
  }
  const seconds = flags.evictionMaxPodGracePeriod;
  if (seconds !== undefined) {
    const number = /^[+-]?\d{1,15}$/.test(seconds) ? Number(seconds) : seconds;
    set(['evictionMaxPodGracePeriod'], number, { file: '--eviction-max-pod-grace-period', column: 1 });
  }
  const sources = Object.entries(SOURCES).flatMap(([name, [file, entry]]) =>
    (flags[name as keyof typeof SOURCES] ?? []).map((text) => ({ file, entry: entry(text) })),
  );
  const [first] = sources;
  if (first) {
    set(
      ['workloads'],
      sources.map(({ entry }) => entry),
      { file: first.file, column: 1 },
    );
    for (const [index, { file }] of sources.entries()) {
      const at = { file, column: 1 };
      places.set(keyText(['workloads', index]), { key: at, value: at });
    }
  }
  const find = (path: KeyPath, which: 'key' | 'value'): SourcePosition => {
    for (let length = path.length; length > 0; length--) {
      const place = places.get(keyText(path.slice(0, length)));
      if (place !== undefined) return place[which];
    }
    return { file: 'command line' };
  };
  return { value, at: (path) => find(path, 'value'), keyAt: (path) => find(path, 'key') };
}

/**
 * `signal<value,…` as the kubelet parses it: ignores white space around each part, and the last entry for a signal
 * wins.
 */
function readPairs(
  name: MapFlag,
  text: string,
  set: (path: KeyPath, text: unknown, at: SourcePosition, keyAt: SourcePosition) => void,
  report: Report,
  skipsEmpty: boolean,
): void {
  const [file, sign] = MAPS[name];
  if (text.trim() === '') return;
  let offset = 0;
  for (const pair of text.split(',')) {
    const start = offset;
    offset += pair.length + 1;
    if (pair.trim() === '') {
      const message = 'a comma without a pair before and after it';
      if (!skipsEmpty) report.issue('EVICTD_CONFIG_FLAG', message, { file, column: Math.max(start, 1) }, 'remove the comma');
      continue;
    }
    const column = start + pair.search(/\S/) + 1;
    const middle = pair.indexOf(sign);
    if (middle < 0) {
      const example = sign === '<' ? 'memory.available<100Mi' : 'memory.available=30s';
      report.issue(
        'EVICTD_CONFIG_FLAG',
        `malformed pair ${JSON.stringify(pair.trim())}, expected SIGNAL${sign}VALUE`,
        { file, column },
        pair.includes('.pressure.')
          ? "set pressure in a file: thresholds: [{when: 'memory.pressure.full>40%', kind: soft, for: 10s}]"
          : `like ${example}`,
      );
      continue;
    }
    const after = pair.slice(middle + 1);
    const lead = after.length - after.trimStart().length;
    const valueColumn = after.trim() === '' ? start + middle + 1 : start + middle + 2 + lead;
    set([name, pair.slice(0, middle).trim()], after.trim(), { file, column: valueColumn }, { file, column });
  }
}
