import { compileGlob } from './glob.js';

/** A path or a name as it is compared: Windows takes both slashes for one, and large letters for small ones. The prefix of a long path (\\?\) is none of it. */
export function foldPath(path: string): string {
  return path
    .replace(/^\\\\\?\\(UNC\\)?/i, (_prefix, unc: string | undefined) => (unc === undefined ? '' : '\\\\'))
    .replaceAll('\\', '/')
    .toLowerCase();
}

/** The patterns of rules and sources on Windows: as {@link compileGlob}, where `*` and `?` stop at both slashes, and large letters are small ones. */
export function compileWindowsGlob(glob: string): { readonly test: (text: string) => boolean } {
  const pattern = compileGlob(foldPath(glob));
  return { test: (text) => pattern.test(foldPath(text)) };
}

/** 'C:\…', 'C:/…', or of a share '\\SERVER\SHARE…'. What is relative to the directory of a drive ('C:x', '\x') is none. */
export function isWindowsPath(text: string): boolean {
  return /^[A-Za-z]:[\\/]/.test(text) || /^\\\\[^\\/?]+\\[^\\/]+/.test(text);
}
