import { lstatSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { byteOrder, fsPath, namesIn, subdirectoriesIn } from '../../byte-paths.js';
import { attempt } from '../../errors.js';
import { isRecord, type SettingsDocument } from '../value/document.js';
import type { KeyPath, Report } from '../value/report.js';
import { checkDirectory, errnoOf } from './config-file.js';

/**
 * The drop-ins in a kubelet's --config-dir and the directories below it: names that end in `.conf`, each directory in
 * byte order (cmd/kubelet/app/server.go, mergeKubeletConfigurations, v1.36.2). Links to directories are not followed.
 */
export function kubeletDropIns(directory: string, report: Report): string[] {
  try {
    if (lstatSync(fsPath(directory)).isSymbolicLink()) {
      const hint = 'name the directory that it leads to';
      report.issue('EVICTD_CONFIG_FILE_TYPE', 'is a symbolic link, which a kubelet does not follow', { file: directory }, hint);
      return [];
    }
    const skipped: string[] = [];
    const found = below(directory, report, skipped);
    if (skipped.length > 0) {
      const message = `ignored drop-ins whose names do not end in .conf: ${skipped.join(', ')}`;
      const hint = 'a kubelet ignores them, too; rename them to NAME.conf, or remove them';
      report.notice('warn', 'EVICTD_CONFIG_DROPIN_NAME', message, { hint, position: { file: directory } });
    }
    return found;
  } catch (error) {
    const hint = 'name an existing directory with --config-dir, and give evictd read permission';
    report.issue('EVICTD_CONFIG_FILE_UNREADABLE', `cannot list the drop-ins: ${errnoOf(error)}`, { file: directory }, hint);
    return [];
  }
}

function below(directory: string, report: Report, skipped: string[]): string[] {
  checkDirectory(directory, report);
  const directories = new Set(subdirectoriesIn(directory));
  return namesIn(directory)
    .sort(byteOrder)
    .flatMap((name) => {
      const path = join(directory, name);
      if (directories.has(name)) return below(path, report, skipped);
      if (extensionOf(name) === '.conf') return [path];
      skipped.push(name);
      return [];
    });
}

/** Go's filepath.Ext: '.conf' has one, too. */
function extensionOf(name: string): string {
  return name.startsWith('.') && !name.includes('.', 1) ? name : extname(name);
}

/**
 * Where a kubelet of this file may have drop-ins that are not read: NAME.d of the whole name, as `config.json.d`, or the
 * directory of drop-ins that the file itself is in. undefined: there are none.
 */
export function likelyDropIns(file: string): { readonly directory: string; readonly names: readonly string[] } | undefined {
  const beside = { directory: `${file}.d`, besides: '' };
  const within = { directory: dirname(file), besides: basename(file) };
  const places = extname(file) === '.conf' && dirname(file).endsWith('.d') ? [beside, within] : [beside];
  for (const { directory, besides } of places) {
    const names = (attempt(() => namesIn(directory)) ?? []).filter((name) => extensionOf(name) === '.conf' && name !== besides);
    if (names.length > 0) return { directory, names: names.sort() };
  }
  return undefined;
}

/**
 * A kubelet's file with its drop-ins: a JSON merge patch each (RFC 7386), so maps are merged key by key, lists replaced,
 * and null removes. A position is that of the last document with the key.
 *
 * @param main  undefined: the kubelet has no file
 */
export function withDropIns(main: SettingsDocument | undefined, dropIns: readonly SettingsDocument[]): SettingsDocument | undefined {
  const documents = [...(main === undefined ? [] : [main]), ...dropIns];
  const [first] = documents;
  if (first === undefined) return undefined;
  const merged = documents.map(({ value }) => value).reduce(mergePatch, {});
  const of = (path: KeyPath): SettingsDocument => documents.findLast(({ value }) => has(value, path)) ?? first;
  return {
    value: dropIns.length > 0 && isRecord(merged) ? withDefaultsOf(merged, main?.value, dropIns) : merged,
    at: (path) => of(path).at(path),
    keyAt: (path) => of(path).keyAt(path),
  };
}

function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result = new Map<string, unknown>(isRecord(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, mergePatch(result.get(key), value));
  }
  return Object.fromEntries(result);
}

/**
 * A kubelet adds the defaults of evictionHard to its file, before the drop-ins: all of them if the file has no
 * evictionHard, else as its own mergeDefaultEvictionSettings says. An evictionHard that a drop-in removes stays empty.
 */
function withDefaultsOf(merged: Readonly<Record<string, unknown>>, main: unknown, dropIns: readonly SettingsDocument[]): unknown {
  const own = isRecord(main) ? main : {};
  const { evictionHard, mergeDefaultEvictionSettings: _late, ...others } = merged;
  const patches = dropIns.flatMap(({ value }) => (isRecord(value) && 'evictionHard' in value ? [value.evictionHard] : []));
  const hasOwn = isRecord(own.evictionHard);
  const early = own.mergeDefaultEvictionSettings;
  const mergeDefaultEvictionSettings = early === undefined ? {} : { mergeDefaultEvictionSettings: early };
  if (patches.length === 0) return { ...others, ...(hasOwn && { evictionHard }), ...mergeDefaultEvictionSettings };
  if (evictionHard === undefined) return { ...others, evictionHard: {}, mergeDefaultEvictionSettings: false };
  if (hasOwn) return { ...others, evictionHard, ...mergeDefaultEvictionSettings };
  const removed = patches.flatMap((patch) => (isRecord(patch) ? Object.entries(patch) : [])).filter(([, value]) => value === null);
  const disabled = Object.fromEntries(removed.map(([signal]) => [signal, '0%']));
  return { ...others, evictionHard: { ...disabled, ...(evictionHard as object) }, mergeDefaultEvictionSettings: true };
}

function has(value: unknown, path: KeyPath): boolean {
  return (
    path.reduce<unknown>(
      (inner, key) => (isRecord(inner) ? inner[String(key)] : Array.isArray(inner) ? (inner as unknown[])[Number(key)] : undefined),
      value,
    ) !== undefined
  );
}
