import { subdirectoriesIn } from '../../../byte-paths.js';
import { cgroupDirectory, childPath, withAncestors, type CgroupHierarchy } from '../../../core/workload/cgroup.js';
import { claimed, effectiveProtection } from '../../../core/workload/memory-protection.js';
import { attempt } from '../../../errors.js';
import { readOwnMounts } from '../disk/mountinfo.js';
import { limitIn } from '../oom/oom-domain.js';

/** Bytes of a cgroup that reclaim spares; at most what it uses. 0: none, or it was removed. */
export type ReadProtection = (path: string) => number;

const SETTINGS = ['memory.min', 'memory.low'] as const;
type Setting = (typeof SETTINGS)[number];

/** Whether an unprotected child shares what its parent is spared. */
export function sharesProtection({ mountPoint }: CgroupHierarchy): boolean {
  const mount = readOwnMounts().findLast((one) => one.mountPoint === mountPoint);
  return mount?.options.includes('memory_recursiveprot') === true;
}

/**
 * The larger effective protection of memory.min and memory.low, read from the top. Below a cgroup that is spared nothing
 * nothing more is read, so that it costs two files where nothing is protected. For one pass: every cgroup is read once.
 * v1 protects nothing.
 */
export function openProtection(hierarchy: CgroupHierarchy, isRecursive: boolean): ReadProtection {
  if (hierarchy.version === 1) return () => 0;
  const known = new Map<string, number>();
  const once = (key: string, read: () => number): number => {
    const value = known.get(key) ?? read();
    known.set(key, value);
    return value;
  };
  const bytes = (path: string, file: string): number =>
    once(`${file} ${path}`, () => Number(limitIn(`${cgroupDirectory(hierarchy, path)}/${file}`) ?? 0n));
  const use = (path: string, setting: Setting) => ({ usage: bytes(path, 'memory.current'), setting: bytes(path, setting) });
  const childrenProtected = (path: string, setting: Setting): number =>
    once(`children's ${setting} ${path}`, () => {
      const names = attempt(() => subdirectoriesIn(cgroupDirectory(hierarchy, path))) ?? [];
      return names.reduce((sum, name) => sum + claimed(use(childPath(path, name), setting)), 0);
    });
  const effective = (path: string, setting: Setting): number =>
    once(`effective ${setting} ${path}`, () => {
      const [, parent] = withAncestors(path);
      if (parent === undefined) return 0; // the root: reclaim has nothing outside of it
      if (parent === '/') return effectiveProtection({ usage: 0, setting: bytes(path, setting) }, undefined, isRecursive);
      const above = effective(parent, setting);
      if (above === 0) return 0;
      const of = { usage: bytes(parent, 'memory.current'), effective: above, childrenProtected: childrenProtected(parent, setting) };
      return effectiveProtection(use(path, setting), of, isRecursive);
    });
  return (path) => {
    const spared = Math.max(...SETTINGS.map((setting) => effective(path, setting)));
    return spared === 0 ? 0 : Math.min(spared, bytes(path, 'memory.current'));
  };
}
