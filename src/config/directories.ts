import { isBelow } from '../core/cgroup.js';
import type { FilesystemPaths } from '../core/layout.js';
import type { Rule } from '../core/rule.js';
import { overlap } from '../core/workload-directory.js';
import type { ListItem } from './layered.js';
import type { Report } from './report.js';

/** A directory is one workload's: nothing of it may be named twice, by one rule or by two. */
export function reportSharedDirectories(items: readonly ListItem<Rule>[], report: Report): void {
  const seen: { readonly path: string; readonly at: string }[] = [];
  for (const { value, layer, path } of items) {
    for (const [index, directory] of (value.directories ?? []).entries()) {
      const position = layer.at([...path, 'directories', index, 'path']);
      const other = seen.find((one) => overlap(one.path, directory.path));
      if (other) {
        const message = `${directory.path} ${other.path === directory.path ? 'is named twice' : `overlaps ${other.path}`}, first at ${other.at}`;
        report.issue(
          'EVICTD_CONFIG_DIRECTORY',
          message,
          position,
          'a directory is one workload’s own: name each once, and none within another',
        );
      }
      seen.push({ path: directory.path, at: `${position.file}:${String(position.line)}:${String(position.column)}` });
    }
  }
}

/** What evictd writes to is not emptied, and neither is what holds the images and containers of others. */
export function reportEmptiedOwn(
  items: readonly ListItem<Rule>[],
  own: FilesystemPaths & { readonly stateDirectory: string; readonly runtimeDirectory: string },
  report: Report,
): void {
  const { stateDirectory, runtimeDirectory, imagefs, containerfs } = own;
  for (const { value, layer, path } of items) {
    for (const [index, { path: emptied, onEvict }] of (value.directories ?? []).entries()) {
      if (onEvict !== 'empty') continue;
      const kept = [stateDirectory, runtimeDirectory].find((directory) => overlap(directory, emptied));
      const held = [imagefs, containerfs].find((root) => root !== undefined && (root === emptied || isBelow(root, emptied)));
      const why = kept ? `${kept} is evictd's own` : held ? `${held} holds images or containers` : undefined;
      if (why === undefined) continue;
      report.issue(
        'EVICTD_CONFIG_EMPTY',
        `${emptied} is not emptied: ${why}`,
        layer.at([...path, 'directories', index, 'path']),
        'name a directory that only this workload writes to',
      );
    }
  }
}
