import { listItem } from './support/markdown-list.js';

/**
 * A layer of src/: a folder, a subfolder with rules of its own, or a file. The most specific entry holds for a file.
 */
export interface Layer {
  readonly path: string;
  readonly holds: string;
  /** Beside itself. An entry covers all below it that is no layer of its own. `features/*`: any feature. */
  readonly mayImport: readonly string[];
}

/** The dependency rule, from the process edge down. docs/architecture.md has it. */
export const LAYERS: readonly Layer[] = [
  {
    path: 'launch',
    holds: 'starts a program with the code that V8 has cached; `program.ts` has all commands, `check.ts` one',
    mayImport: ['evictd', 'cli', 'features/*'],
  },
  { path: 'evictd', holds: 'the process edge: arguments, signals, exit codes', mayImport: ['cli', 'cli/output', 'node', 'errors'] },
  {
    path: 'cli',
    holds: 'the program: the list of commands, `run`',
    mayImport: ['cli/output', 'compose', 'features/*', 'node', 'config', 'config/value', 'config/lint', 'core', 'errors'],
  },
  {
    path: 'compose',
    holds: '`run`: builds every part from a configuration and connects them to the loop',
    mayImport: [
      'features/*',
      'features/kubernetes',
      'node',
      'monitor',
      'monitor/ports',
      'evict',
      'workloads',
      'workloads/kinds',
      'host',
      'metrics',
      'http',
      'recording',
      'journal',
      'state',
      'storage',
      'log',
      'config',
      'config/value',
      'config/lint',
      'native',
      'core',
      'errors',
    ],
  },
  {
    path: 'features/*',
    holds: 'one capability a folder: its pure part, its adapters, `open.ts` for `run`, `command.ts` for the command line',
    mayImport: [
      'cli/output',
      'features/kubernetes',
      'node',
      'monitor',
      'monitor/ports',
      'evict',
      'workloads',
      'workloads/kinds',
      'host',
      'metrics',
      'http',
      'recording',
      'journal',
      'state',
      'storage',
      'log',
      'config',
      'config/value',
      'config/lint',
      'kubernetes',
      'native',
      'byte-paths',
      'core',
      'errors',
    ],
  },
  {
    path: 'features/kubernetes',
    holds: 'the API server of a cluster: its client, the pods of this node, what evictd tells it',
    mayImport: ['monitor/ports', 'storage', 'log', 'kubernetes', 'core', 'errors'],
  },
  {
    path: 'cli/output',
    holds: 'what commands share: options, tables, colours, errors as text',
    mayImport: ['node', 'recording', 'journal', 'config', 'config/value', 'monitor/ports', 'core', 'errors'],
  },
  {
    path: 'node',
    holds: 'the node that a configuration describes: its signals, workloads and container runtimes, opened',
    mayImport: [
      'features/kubernetes',
      'workloads',
      'workloads/kinds',
      'host',
      'config',
      'config/value',
      'config/lint',
      'storage',
      'monitor/ports',
      'native',
      'core',
      'errors',
    ],
  },
  {
    path: 'page',
    holds: 'the status page for a browser, bundled into one file; `tsconfig.json` there has the types of a browser',
    mayImport: ['features/*', 'core', 'errors'],
  },
  { path: 'index', holds: 'the library', mayImport: ['features/*', 'native', 'core', 'errors'] },
  {
    path: 'monitor',
    holds: 'the loop, the evictions in flight, what each effect does',
    mayImport: ['monitor/ports', 'journal', 'state', 'log', 'core', 'errors'],
  },
  {
    path: 'evict',
    holds: 'ends a workload: one folder a kind',
    mayImport: ['monitor/ports', 'native', 'byte-paths', 'core', 'errors', 'log'],
  },
  {
    path: 'workloads',
    holds: 'finds and measures workloads: one folder a kind, and what they hold on disks',
    mayImport: ['workloads/kinds', 'monitor/ports', 'native', 'byte-paths', 'core', 'errors', 'log'],
  },
  {
    path: 'host',
    holds: 'reads the node, one kernel source a file; `select.ts` chooses the platform',
    mayImport: ['monitor/ports', 'native', 'storage', 'byte-paths', 'core', 'errors', 'log'],
  },
  { path: 'metrics', holds: 'defines every metric, serves them over HTTP', mayImport: ['http', 'monitor/ports', 'log', 'core', 'errors'] },
  {
    path: 'http',
    holds: 'HTTP servers with limits, and the type of the operations that they serve',
    mayImport: ['log', 'storage', 'core', 'errors'],
  },
  {
    path: 'recording',
    holds: 'records every step of a run, reads it back',
    mayImport: ['monitor/ports', 'storage', 'log', 'config', 'config/value', 'core', 'errors'],
  },
  { path: 'state', holds: 'what outlives a restart, in the runtime directory', mayImport: ['monitor/ports', 'storage', 'core', 'errors'] },
  { path: 'journal', holds: 'writes every record before the action, rotates', mayImport: ['monitor/ports', 'storage', 'core', 'errors'] },
  { path: 'storage', holds: 'file formats and directories that several layers share', mayImport: ['errors'] },
  { path: 'monitor/ports', holds: 'what the loop needs from outside', mayImport: ['core'] },
  { path: 'kubernetes', holds: 'reads Pod and /stats/summary documents', mayImport: ['core', 'errors'] },
  { path: 'log', holds: 'log lines, log file', mayImport: ['core', 'storage', 'errors'] },
  {
    path: 'config',
    holds: 'file and flags to a configuration that cannot be wrong, or every error with file:line:column',
    mayImport: ['config/lint', 'config/value', 'workloads/kinds', 'byte-paths', 'core', 'errors'],
  },
  {
    path: 'config/lint',
    holds: 'what a valid configuration will not do, with the arithmetic',
    mayImport: ['workloads/kinds', 'core'],
  },
  {
    path: 'workloads/kinds',
    holds: 'the kinds of workload sources: one file a kind, and their list',
    mayImport: ['config/value', 'monitor/ports', 'core', 'errors'],
  },
  { path: 'config/value', holds: 'a document with positions, its values and what is wrong with them', mayImport: ['core', 'errors'] },
  { path: 'native', holds: 'loads the addon; its types', mayImport: ['errors'] },
  { path: 'byte-paths', holds: 'paths and names of files that need not be UTF-8', mayImport: ['core'] },
  { path: 'errors', holds: 'error classes with codes and hints', mayImport: [] },
  { path: 'core', holds: 'the rules of eviction, pure: values in, values out', mayImport: [] },
];

/**
 * Pure modules outside of core and config/lint: they import these, types of facts, and each other, and use no clock and
 * no I/O.
 */
export const PURE: readonly string[] = [
  'features/admission/admission',
  'features/doctor/check',
  'features/doctor/check-kind',
  'features/doctor/checks/',
  'features/doctor/findings',
  'features/doctor/linux-checks',
  'features/doctor/windows-checks',
  'features/doctor/machine-facts',
  'features/oom/oom-kill-ledger',
  'features/oom-score-adj/qos-score',
  'features/rank/oom-comparison',
  'features/shutdown/shutdown-plan',
  'features/shutdown/shutdown-progress',
];

/** The layer of a module ('core/rank/rank'), or undefined. */
export function layerOf(module: string): Layer | undefined {
  return LAYERS.filter(({ path }) => {
    const prefix = path.replace('/*', '/');
    return path.endsWith('/*') ? module.startsWith(prefix) : module === path || module.startsWith(`${path}/`);
  }).sort((a, b) => b.path.length - a.path.length)[0];
}

/** The part that has unique base names, and that must not import its neighbours: a feature, or else a layer. */
export function partOf(module: string): string {
  const path = layerOf(module)?.path;
  return path === 'features/*' ? module.split('/').slice(0, 2).join('/') : (path ?? module);
}

/** Whether one module may import another. */
export function mayImport(from: string, to: string): boolean {
  const target = layerOf(to);
  if (target === undefined) return false;
  return partOf(from) === partOf(to) || (layerOf(from)?.mayImport.includes(target.path) ?? false);
}

/** The table and the list in docs/architecture.md: what a layer does, and what it may import. */
export function layerText(): string {
  const name = (path: string): string => (path === 'features/*' ? 'features' : path);
  const place = (path: string): string => `\`src/${path}${['evictd', 'index', 'byte-paths', 'errors'].includes(path) ? '.ts' : '/'}\``;
  const rows = LAYERS.map(({ path, holds }) => `| ${place(path)} | ${holds} |`);
  const rules = LAYERS.map(({ path, mayImport: allowed }) =>
    listItem(`${place(path)} may import ${allowed.map(name).join(', ') || 'nothing'}`),
  );
  return ['| where | what it does |', '| --- | --- |', ...rows, '', ...rules].join('\n');
}
