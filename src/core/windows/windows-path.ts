import { compileGlob } from '../workload/glob.js';

/**
 * Normalises a path or a name for comparison: both slashes are equal, case is ignored, and the prefix of a long path
 * (\\?\) is dropped.
 */
export function foldPath(path: string): string {
  return path
    .replace(/^\\\\\?\\(UNC\\)?/i, (_prefix, unc: string | undefined) => (unc === undefined ? '' : '\\\\'))
    .replaceAll('\\', '/')
    .toLowerCase();
}

/**
 * Patterns of rules and sources on Windows: as {@link compileGlob}, where both slashes separate and case is ignored.
 */
export function compileWindowsGlob(glob: string): { readonly test: (text: string) => boolean } {
  const pattern = compileGlob(foldPath(glob));
  return { test: (text) => pattern.test(foldPath(text)) };
}

/** 'C:\…', 'C:/…', or '\\SERVER\SHARE…'. Paths relative to a drive ('C:x', '\x') do not count. */
export function isWindowsPath(text: string): boolean {
  return /^[A-Za-z]:[\\/]/.test(text) || /^\\\\[^\\/?]+\\[^\\/]+/.test(text);
}
