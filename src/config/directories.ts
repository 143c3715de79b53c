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
