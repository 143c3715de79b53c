import type { AgedStep, ReclaimStep } from './reclaim-step.js';
import { NS_PER_MINUTE } from '../quantity/duration.js';

/** An installed program that performs a step. */
interface StepCommand {
  readonly argv: readonly string[];
  /** The location of what it frees; undefined: unknown. */
  readonly path: string | undefined;
  /** Arguments for find(1) that print the 512-byte blocks of each file that may be removed; undefined: unknown. */
  readonly found: readonly string[] | undefined;
  /** The bytes of the found files that stay. */
  readonly keptBytes: bigint;
}

const FIND = '/usr/bin/find';
const PRINT_BLOCKS = ['-printf', '%b\n'];

interface AgedFiles {
  readonly directories: readonly string[];
  /** Patterns for names, of which one must match; empty: any name. */
  readonly names: readonly string[];
  /** Patterns for paths that are skipped. */
  readonly except: readonly string[];
  /** The file times that must be old enough. */
  readonly times: readonly string[];
}

const AGED: Readonly<Record<AgedStep, AgedFiles>> = {
  'rotated-logs': {
    directories: ['/var/log'],
    names: ['*.gz', '*.xz', '*.bz2', '*.zst', '*.old', '*.[0-9]', '*.[0-9][0-9]', '*-[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]'],
    except: ['/var/log/journal/*'],
    times: ['-mmin'],
  },
  'core-dumps': {
    directories: ['/var/lib/systemd/coredump', '/var/crash', '/var/lib/apport/coredump'],
    names: [],
    except: [],
    times: ['-mmin'],
  },
  'temporary-files': {
    directories: ['/tmp', '/var/tmp'],
    names: [],
    except: ['/tmp/systemd-private-*', '/var/tmp/systemd-private-*', '/tmp/snap-private-tmp/*', '/tmp/.X*-lock'],
    times: ['-amin', '-mmin', '-cmin'],
  },
};

const PACKAGE_CACHES: readonly { readonly argv: readonly string[]; readonly directory: string; readonly names: string }[] = [
  { argv: ['/usr/bin/apt-get', 'clean'], directory: '/var/cache/apt/archives', names: '*.deb' },
  { argv: ['/usr/bin/dnf', 'clean', 'packages'], directory: '/var/cache/dnf', names: '*.rpm' },
  { argv: ['/usr/bin/zypper', '--non-interactive', 'clean'], directory: '/var/cache/zypp/packages', names: '*.rpm' },
  { argv: ['/usr/bin/pacman', '-Sc', '--noconfirm'], directory: '/var/cache/pacman/pkg', names: '*.pkg.tar*' },
];

const JOURNAL = '/var/log/journal';

/** All commands of a step whose programs are installed. The size estimate uses the same expression as the removal. */
export function stepCommands(step: ReclaimStep, isThere: (path: string) => boolean): readonly StepCommand[] {
  switch (step.kind) {
    case 'journald': {
      // --vacuum-size removes only archived files, so rotate first.
      const argv = ['/usr/bin/journalctl', '--rotate', `--vacuum-size=${String(step.keepBytes)}`];
      const found = [JOURNAL, '-xdev', '-type', 'f', ...PRINT_BLOCKS];
      return isThere(JOURNAL) ? [{ argv, path: JOURNAL, found, keptBytes: step.keepBytes }] : [];
    }
    case 'package-cache':
      return PACKAGE_CACHES.filter(({ argv: [program = ''], directory }) => isThere(program) && isThere(directory)).map(
        ({ argv, directory, names }) => ({
          argv,
          path: directory,
          found: [directory, '-xdev', '-type', 'f', '-name', names, ...PRINT_BLOCKS],
          keptBytes: 0n,
        }),
      );
    case 'command':
      return [{ argv: step.command, path: undefined, found: undefined, keptBytes: 0n }];
    default:
      return agedFiles(AGED[step.kind], step.olderThanNs / NS_PER_MINUTE, isThere);
  }
}

/**
 * One command per directory, because they may be on different filesystems. find removes relative to an open directory,
 * so that a symbolic link cannot redirect it.
 */
function agedFiles({ directories, names, except, times }: AgedFiles, minutes: bigint, isThere: (path: string) => boolean): StepCommand[] {
  const named = names.flatMap((name, index) => [...(index > 0 ? ['-o'] : []), '-name', name]);
  const which = [
    '-xdev',
    '-type',
    'f',
    ...times.flatMap((time) => [time, `+${String(minutes)}`]),
    ...except.flatMap((path) => ['!', '-path', path]),
    ...(named.length > 0 ? ['(', ...named, ')'] : []),
  ];
  return directories.filter(isThere).map((directory) => ({
    argv: [FIND, directory, ...which, '-delete'],
    path: directory,
    found: [directory, ...which, ...PRINT_BLOCKS],
    keptBytes: 0n,
  }));
}

/** All paths that `stepCommands` may ask for. */
export function pathsOfStep(step: ReclaimStep): readonly string[] {
  const paths = new Set<string>();
  stepCommands(step, (path) => {
    paths.add(path);
    return true;
  });
  return [...paths];
}
