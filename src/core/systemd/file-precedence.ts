/** The directories of systemd's files in order of precedence (oomd.conf(5), systemd.unit(5)). */
export const SYSTEMD_DIRECTORIES = ['etc', 'run', 'usr/local/lib', 'usr/lib', 'lib'].map((parent) => `/${parent}/systemd`);

/** Prefix, directory, and the name below it. `lib` is not that of `usr/lib`. */
const FILE = /^(|.*\/)(etc|run|usr\/local\/lib|usr\/lib|(?<!(?:^|\/)usr\/(?:local\/)?)lib)\/systemd\/(.*)$/s;

export interface CountingFiles<T> {
  /** In the order in which they were given. */
  readonly counting: readonly T[];
  /** Each with the file that counts in its place. */
  readonly masked: readonly { readonly file: T; readonly by: T }[];
}

/**
 * Of files with one name in several of the directories only that in the first counts, also if it is empty or a link to
 * /dev/null. `systemctl set-property` writes to directories before all others (`system.control`).
 */
export function countingFiles<T extends { readonly file: string }>(files: readonly T[]): CountingFiles<T> {
  const first = new Map<string, T>();
  const keyOf = ({ file }: T): string => placeOf(file).key;
  for (const file of files) {
    const key = keyOf(file);
    const known = first.get(key);
    if (known === undefined || placeOf(file.file).rank < placeOf(known.file).rank) first.set(key, file);
  }
  const masked = files.flatMap((file) => {
    const by = first.get(keyOf(file));
    return by === undefined || by === file ? [] : [{ file, by }];
  });
  return { counting: files.filter((file) => first.get(keyOf(file)) === file), masked };
}

function placeOf(file: string): { readonly key: string; readonly rank: number } {
  const [, prefix = '', parent = '', name = ''] = FILE.exec(file) ?? [];
  if (name === '') return { key: file, rank: 0 };
  const rank = SYSTEMD_DIRECTORIES.indexOf(`/${parent}/systemd`);
  const key = `${prefix}\n${name.replace(/^(system|user)\.control\//, '$1/')}`;
  return { key, rank: /^(system|user)\.control\//.test(name) ? rank - SYSTEMD_DIRECTORIES.length : rank };
}
