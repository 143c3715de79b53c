import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { byteOrder, fsPath, namesIn } from '../byte-paths.js';
import type { LoadedConfig, WrittenConfig } from './config.js';
import type { Platform } from '../core/signal/operating-system.js';
import { defaultFile, defaultsOf } from './merge/defaults.js';
import { readDocument, type SettingsDocument } from './value/document.js';
import { effectiveConfig } from './merge/effective-config.js';
import { configFlags, readFlags, type ConfigFlags } from './merge/flags.js';
import { isKubelets, isUnused, readLayer, type Layer } from './merge/layer.js';
import { Report } from './value/report.js';
import { checkDirectory, errnoOf, readSource } from './parse/config-file.js';
import { kubeletDropIns, likelyDropIns, withDropIns } from './parse/kubelet-drop-ins.js';

export interface ConfigSources {
  readonly platform: Platform;
  /** From --config: must exist. Undefined: the platform's default (/etc/evictd/config.yaml), which may be absent. */
  readonly file?: string | undefined;
  /** From --config-dir: a kubelet's drop-ins. */
  readonly directory?: string | undefined;
  readonly flags?: ConfigFlags;
}

/**
 * Reads the configuration file, its drop-ins and the flags. Synchronous: evictd needs it before anything else.
 *
 * @throws ConfigError  with every issue of all of them
 */
export function loadConfig({ platform, file, directory, flags = {} }: ConfigSources): LoadedConfig {
  const report = new Report();
  const main = file ?? defaultFile(platform);
  const document = readFile(main, file === undefined ? 'allowed' : 'refused', report);
  const ofKubelet = document !== undefined && isKubelets(document);
  const files = [
    ...(directory === undefined
      ? [layerOf(main, document, report)]
      : withKubeletDropIns({ path: main, document, ofKubelet }, directory, report)),
    ...dropIns(main, ofKubelet, report).map((path) => layerOf(path, readFile(path, 'refused', report), report)),
  ];
  if (ofKubelet && directory === undefined) noticeUnreadDropIns(main, report);
  return load(files, flags, platform, report);
}

/**
 * Loads a kubelet's configuration as the kubelet does: without drop-ins of evictd.
 *
 * @param file  undefined: none
 * @throws ConfigError  with every issue
 */
export function loadKubelet({ file, directory, flags = {} }: Omit<ConfigSources, 'platform'>): LoadedConfig {
  const report = new Report();
  const main = file === undefined ? undefined : { path: file, document: readFile(file, 'refused', report), ofKubelet: true };
  const files =
    directory === undefined
      ? main === undefined
        ? []
        : [layerOf(main.path, main.document, report)]
      : withKubeletDropIns(main ?? { path: directory, document: undefined, ofKubelet: true }, directory, report);
  return load(files, flags, { os: 'linux' }, report, 'kubelet');
}

interface MainFile {
  readonly path: string;
  /** undefined: absent or invalid as a whole. */
  readonly document: SettingsDocument | undefined;
  readonly ofKubelet: boolean;
}

/** A kubelet's drop-ins are one layer with its file, and one after a file of evictd. */
function withKubeletDropIns({ path, document, ofKubelet }: MainFile, directory: string, report: Report): ReadFile[] {
  const patches = kubeletDropIns(directory, report).map((dropIn) => ({ dropIn, patch: readFile(dropIn, 'refused', report) }));
  const right = patches.flatMap(({ dropIn, patch }) => {
    if (patch === undefined || isKubelets(patch)) return patch ?? [];
    const hint = 'write apiVersion: kubelet.config.k8s.io/v1beta1 and kind: KubeletConfiguration, as the kubelet requires';
    report.issue('EVICTD_CONFIG_KIND', 'a drop-in of a kubelet that is not a KubeletConfiguration', { file: dropIn }, hint);
    return [];
  });
  const merged = ofKubelet ? withDropIns(document, right) : withDropIns(undefined, right);
  if (ofKubelet) return [layerOf(path, merged, report)];
  return [layerOf(path, document, report), ...(right.length > 0 ? [layerOf(directory, merged, report)] : [])];
}

function noticeUnreadDropIns(main: string, report: Report): void {
  const likely = likelyDropIns(main);
  if (likely === undefined) return;
  const message = `drop-ins of a kubelet are not read: ${likely.names.join(', ')} in ${likely.directory}`;
  const hint = `if the kubelet has --config-dir, add --config-dir ${likely.directory}`;
  report.notice('warn', 'EVICTD_CONFIG_DIR_UNREAD', message, { hint, position: { file: main } });
}

/**
 * Loads a configuration again, perhaps on another machine, with more flags, which win.
 *
 * @throws ConfigError  with every issue
 */
export function loadWritten({ files, flags, platform = { os: 'linux' } }: WrittenConfig, more: ConfigFlags): LoadedConfig {
  const report = new Report();
  const layers = files.map(({ file, settings }) => {
    const at = () => ({ file });
    return { path: file, layer: readLayer({ value: settings, at, keyAt: at }, report) };
  });
  return load(layers, { ...flags, ...more }, platform, report);
}

/** `layer` undefined: absent or invalid as a whole. */
interface ReadFile {
  readonly path: string;
  readonly layer: Layer | undefined;
}

/** @param profile  of the flags; undefined: as they and the files say */
function load(files: readonly ReadFile[], flags: ConfigFlags, platform: Platform, report: Report, profile?: 'kubelet'): LoadedConfig {
  const paths = files.map(({ path }) => path);
  const read = files.flatMap(({ path, layer }) => (layer === undefined ? [] : [{ path, layer }]));
  const compatibilities = [...read.map(({ layer }) => layer.settings.compatibility), flags.compatibility, profile];
  const asKubelet = compatibilities.findLast((each) => each !== undefined) === 'kubelet';
  const layers = {
    defaults: requireLayer(readLayer(defaultsOf(platform), report)),
    files: read.map(({ layer }) => layer),
    flags: requireLayer(readLayer(readFlags(flags, report, asKubelet), report)),
    unread: report.issues.some(({ position }) => paths.includes(position.file)) && read.length < files.length,
  };
  const loaded = effectiveConfig(layers, platform, report);
  report.throwIssues(paths);
  const written = {
    files: read.map(({ path, layer }) => ({ file: path, settings: layer.written })),
    flags: configFlags(flags),
    ...(platform.os !== 'linux' && { platform }),
  };
  return { ...loaded, written };
}

function readFile(file: string, absent: 'allowed' | 'refused', report: Report): SettingsDocument | undefined {
  const text = readSource(file, absent, report);
  return text === undefined ? undefined : readDocument(file, text, report, 'as-written', isUnused);
}

function layerOf(path: string, document: SettingsDocument | undefined, report: Report): ReadFile {
  return { path, layer: document && readLayer(document, report) };
}

function requireLayer(layer: Layer | undefined): Layer {
  if (layer === undefined) throw new Error('defaults and flags are always maps');
  return layer;
}

/**
 * `config.d/*.yaml` next to config.yaml (`NAME.d` next to NAME.yaml), in byte order of their names.
 *
 * @param ofKubelet  `.conf` may be the kubelet's
 */
function dropIns(main: string, ofKubelet: boolean, report: Report): string[] {
  const directory = join(dirname(main), `${basename(main).replace(/\.(ya?ml|json)$/, '')}.d`);
  let names: string[];
  try {
    if (!statSync(fsPath(directory)).isDirectory()) return [];
    names = namesIn(directory).filter((name) => !name.startsWith('.'));
    checkDirectory(directory, report);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return [];
    const hint = 'give evictd read permission';
    report.issue('EVICTD_CONFIG_FILE_UNREADABLE', `cannot list the drop-ins: ${errno}`, { file: directory }, hint);
    return [];
  }
  const misnamed = names.filter((name) => (ofKubelet ? /\.(yml|json)$/ : /\.(yml|json|conf)$/).test(name)).sort();
  if (misnamed.length > 0) {
    const message = `ignored drop-ins whose names do not end in .yaml: ${misnamed.join(', ')}`;
    report.notice('warn', 'EVICTD_CONFIG_DROPIN_NAME', message, { hint: 'rename them to NAME.yaml', position: { file: directory } });
  }
  return names
    .filter((name) => name.endsWith('.yaml'))
    .sort(byteOrder)
    .map((name) => join(directory, name));
}
