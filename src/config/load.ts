import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { LoadedConfig, WrittenConfig } from './config.js';
import type { Platform } from '../core/signal/operating-system.js';
import { defaultFile, defaultsOf } from './merge/defaults.js';
import { readDocument } from './value/document.js';
import { effectiveConfig } from './merge/effective-config.js';
import { configFlags, readFlags, type ConfigFlags } from './merge/flags.js';
import { readLayer, type Layer } from './merge/layer.js';
import { Report } from './value/report.js';
import { checkDirectory, errnoOf, readSource } from './parse/config-file.js';

export interface ConfigSources {
  readonly platform: Platform;
  /** From --config: must exist. Undefined: the platform's default (/etc/evictd/config.yaml), which may be absent. */
  readonly file?: string | undefined;
  readonly flags?: ConfigFlags;
}

/**
 * Reads the configuration file, its drop-ins and the flags. Synchronous: evictd needs it before anything else.
 *
 * @throws ConfigError  with every issue of all of them
 */
export function loadConfig({ platform, file, flags = {} }: ConfigSources): LoadedConfig {
  const report = new Report();
  const main = file ?? defaultFile(platform);
  const paths = [main, ...dropIns(main, report)];
  const files = paths.map((path) => ({ path, layer: readFile(path, path === main && file === undefined ? 'allowed' : 'refused', report) }));
  return load(files, flags, platform, report);
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

function load(files: readonly ReadFile[], flags: ConfigFlags, platform: Platform, report: Report): LoadedConfig {
  const paths = files.map(({ path }) => path);
  const read = files.flatMap(({ path, layer }) => (layer === undefined ? [] : [{ path, layer }]));
  const layers = {
    defaults: requireLayer(readLayer(defaultsOf(platform), report)),
    files: read.map(({ layer }) => layer),
    flags: readLayerOfFlags(flags, report),
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

function readFile(file: string, absent: 'allowed' | 'refused', report: Report): Layer | undefined {
  const text = readSource(file, absent, report);
  const document = text === undefined ? undefined : readDocument(file, text, report);
  return document && readLayer(document, report);
}

function readLayerOfFlags(flags: ConfigFlags, report: Report): Layer {
  return requireLayer(readLayer(readFlags(flags, report), report));
}

function requireLayer(layer: Layer | undefined): Layer {
  if (layer === undefined) throw new Error('defaults and flags are always maps');
  return layer;
}

/** `config.d/*.yaml` next to config.yaml (`NAME.d` next to NAME.yaml), in byte order of their names. */
function dropIns(main: string, report: Report): string[] {
  const directory = join(dirname(main), `${basename(main).replace(/\.(ya?ml|json)$/, '')}.d`);
  let names: string[];
  try {
    if (!statSync(directory).isDirectory()) return [];
    names = readdirSync(directory).filter((name) => !name.startsWith('.'));
    checkDirectory(directory, report);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return [];
    const hint = 'give evictd read permission';
    report.issue('EVICTD_CONFIG_FILE_UNREADABLE', `cannot list the drop-ins: ${errno}`, { file: directory }, hint);
    return [];
  }
  const misnamed = names.filter((name) => /\.(yml|json|conf)$/.test(name)).sort();
  if (misnamed.length > 0) {
    const message = `ignored drop-ins whose names do not end in .yaml: ${misnamed.join(', ')}`;
    report.notice('warn', 'EVICTD_CONFIG_DROPIN_NAME', message, { hint: 'rename them to NAME.yaml', position: { file: directory } });
  }
  return names
    .filter((name) => name.endsWith('.yaml'))
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map((name) => join(directory, name));
}
