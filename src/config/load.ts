import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { LoadedConfig, WrittenConfig } from './config.js';
import type { Platform } from '../core/operating-system.js';
import { defaultFile, defaultsOf } from './defaults.js';
import { readDocument } from './document.js';
import { effectiveConfig } from './effective.js';
import { configFlags, readFlags, type ConfigFlags } from './flags.js';
import { readLayer, type Layer } from './layer.js';
import { Report } from './report.js';
import { checkDirectory, errnoOf, readSource } from './source.js';

export interface ConfigSources {
  /** What it is for. */
  readonly platform: Platform;
  /** From --config: it must exist. Undefined: the default of the platform (/etc/evictd/config.yaml), which may be absent. */
  readonly file?: string | undefined;
  readonly flags?: ConfigFlags;
}

/**
 * Reads the configuration file, its drop-ins and the flags. Synchronous: nothing else can be done before it is known.
 *
 * @throws ConfigError  with everything that is wrong in all of them
 */
export function loadConfig({ platform, file, flags = {} }: ConfigSources): LoadedConfig {
  const report = new Report();
  const main = file ?? defaultFile(platform);
  const paths = [main, ...dropIns(main, report)];
  const files = paths.map((path) => ({ path, layer: readFile(path, path === main && file === undefined ? 'fine' : 'wrong', report) }));
  return load(files, flags, platform, report);
}

/**
 * A configuration that was loaded before, perhaps elsewhere, with more flags: each wins over the same one of then.
 *
 * @throws ConfigError  with everything that is wrong
 */
export function loadWritten({ files, flags, platform = { os: 'linux' } }: WrittenConfig, more: ConfigFlags): LoadedConfig {
  const report = new Report();
  const layers = files.map(({ file, settings }) => {
    const at = () => ({ file });
    return { path: file, layer: readLayer({ value: settings, at, keyAt: at }, report) };
  });
  return load(layers, { ...flags, ...more }, platform, report);
}

/** A file, and what it sets; undefined: it is absent or wrong as a whole. */
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

function readFile(file: string, absent: 'fine' | 'wrong', report: Report): Layer | undefined {
  const text = readSource(file, absent, report);
  const document = text === undefined ? undefined : readDocument(file, text, report);
  return document && readLayer(document, report);
}

function readLayerOfFlags(flags: ConfigFlags, report: Report): Layer {
  return requireLayer(readLayer(readFlags(flags, report), report));
}

function requireLayer(layer: Layer | undefined): Layer {
  if (layer === undefined) throw new Error('neither defaults nor flags can be anything but a map of settings');
  return layer;
}

/** `config.d/*.yaml` beside config.yaml (`NAME.d` beside NAME.yaml), in the order of their names, byte by byte. */
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
    const hint = 'evictd must be able to list it';
    report.issue('EVICTD_CONFIG_FILE_UNREADABLE', `the directory of drop-ins cannot be read: ${errno}`, { file: directory }, hint);
    return [];
  }
  const misnamed = names.filter((name) => /\.(yml|json|conf)$/.test(name)).sort();
  if (misnamed.length > 0) {
    const message = `ignored, because the name does not end in .yaml: ${misnamed.join(', ')}`;
    report.notice('warn', 'EVICTD_CONFIG_DROPIN_NAME', message, { hint: 'rename it', position: { file: directory } });
  }
  return names
    .filter((name) => name.endsWith('.yaml'))
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map((name) => join(directory, name));
}
