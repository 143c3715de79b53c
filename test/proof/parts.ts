import { suites } from '../vm/suites.js';
import { REPLAY } from './results.js';

/** One proof that is too long for CI. docs/testing.md says what each proves. */
export interface Part {
  readonly name: string;
  /** The words that choose it beside its name: `make proof ARGS=vm`. */
  readonly group?: string;
  readonly proves: string;
  readonly command: readonly string[];
  /** It runs this suite of test/vm/suites.ts. */
  readonly suite?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * How many "N passed, N failed" lines the command ends with; 1 where not set. A command without one counts as one
   * test.
   */
  readonly closingLines?: number;
  /**
   * It is run again after a change of a file whose name begins so, and of any other that is no test, no document, and
   * not for single parts (results.ts).
   */
  readonly reads: readonly string[];
  /** Of these: tests and documents whose names begin so count for other parts only. */
  readonly except?: readonly string[];
  /** Left out: it reads what all parts read. Otherwise it is run again only after a change of what begins so. */
  readonly only?: readonly string[];
  /** Commands that must be installed, with the Debian package of each. */
  readonly needs?: Readonly<Record<string, string>>;
  /** No other part runs beside it. */
  readonly alone?: true;
  /** One part at a time has it. */
  readonly uses?: 'wine' | 'build/test' | 'build/node' | 'build/arm64';
}

const CLANG = { 'clang++': 'clang libclang-rt-14-dev' };
const WINE = { 'x86_64-w64-mingw32-g++-posix': 'g++-mingw-w64-x86-64-posix', cmake: 'cmake', wineserver: 'wine wine64' };
const ARM64 = { 'aarch64-linux-gnu-g++': 'g++-aarch64-linux-gnu', 'qemu-aarch64-static': 'qemu-user-static', cmake: 'cmake' };
const QEMU = { 'qemu-system-x86_64': 'qemu-system-x86', mmdebstrap: 'mmdebstrap', 'mkfs.ext4': 'e2fsprogs' };
/** Of the manual pages and of the completion. */
const READERS = { mandoc: 'mandoc', man: 'man-db', zsh: 'zsh', fish: 'fish' };
const CONTAINERS = { containerd: 'containerd', runc: 'runc', busybox: 'busybox-static', 'mkfs.xfs': 'xfsprogs' };

const PACKAGES = {
  ...{ lintian: 'lintian', mmdebstrap: 'mmdebstrap', buildah: 'buildah', podman: 'podman', runc: 'runc' },
  ...ARM64,
};

/** It asks what the machines have skipped, and starts none. */
const SKIPS = 'test/vm/skips.ts';

/** What C++ programs without Node are built from. */
const CPP = ['native/', 'Makefile', 'CMakeLists.txt', 'binding.gyp', 'package.json', 'package-lock.json', '.clang-tidy'];

/** Packages hold them, and recipes are taken from them. */
const DOCUMENTS = ['docs/', 'README', 'CHANGELOG'];
/** Of these: packages hold them, whatever they say. */
const FOR_CONTRIBUTORS = [
  'docs/adr/',
  'docs/architecture.md',
  'docs/benchmarks.md',
  'docs/contributing.md',
  'docs/lab.md',
  'docs/testing.md',
];

/**
 * In the order in which they run: the longest first, so that nothing runs by itself in the end. `make build` has been
 * run before.
 */
export const PARTS: readonly Part[] = [
  {
    name: 'system',
    proves: 'the end-to-end and native tests that `make test` leaves out, on this machine',
    reads: ['test/native/', 'test/e2e/', 'test/systemd/', 'test/endurance/', REPLAY, ...DOCUMENTS],
    except: FOR_CONTRIBUTORS,
    command: ['node_modules/.bin/vitest', 'run', '--project', 'proof'],
    alone: true,
    needs: {
      ...CONTAINERS,
      ...READERS,
      promtool: 'prometheus',
      kubectl: 'kubernetes-client',
      chromium: 'chromium',
      tmux: 'tmux',
      pgrep: 'procps',
    },
  },
  {
    name: 'soak',
    proves: 'memory, descriptors, threads and inotify watches of a running evictd do not grow in an hour',
    reads: [],
    command: ['make', '--no-print-directory', 'soak'],
  },
  ...suites.map(({ name, proves, files, except = [], documents }) => ({
    name: `vm-${name}`,
    group: 'vm',
    suite: name,
    proves,
    reads: ['test/vm/', ...files, ...(documents ? DOCUMENTS : []), ...(name === 'v2-p' ? [REPLAY] : [])],
    except: [SKIPS, ...except, ...FOR_CONTRIBUTORS],
    command: ['node_modules/.bin/tsx', 'test/vm/run.ts', name],
    needs: QEMU,
  })),
  {
    name: 'chaos',
    group: 'chaos',
    proves: 'what evictd promises under random leaks, kills, hangs and restarts: 150 evictions',
    reads: ['test/chaos/'],
    command: ['make', '--no-print-directory', 'chaos', 'ARGS=--evictions=150'],
  },
  ...['v2', 'v1', 'hybrid'].map((machine) => ({
    name: `chaos-${machine}`,
    group: 'chaos',
    proves: `the same in a virtual machine with cgroup ${machine}: 170 evictions`,
    reads: ['test/chaos/', 'test/vm/'],
    except: [SKIPS],
    command: ['node_modules/.bin/tsx', 'test/chaos/run.ts', `--machine=${machine}`, '--evictions=170', '--actions=60'],
    needs: QEMU,
  })),
  {
    name: 'properties',
    proves: 'every property of the unit tests, with many runs',
    reads: ['test/', REPLAY],
    except: ['test/proof/', 'test/vm/'],
    command: ['node_modules/.bin/tsx', 'test/proof/properties.ts'],
  },
  {
    name: 'tsan',
    group: 'native',
    uses: 'build/test',
    proves: 'the C++ classes under the thread sanitizer',
    reads: [],
    only: CPP,
    command: ['make', '--no-print-directory', 'tsan'],
    needs: CLANG,
  },
  {
    name: 'node-asan',
    group: 'native',
    uses: 'build/test',
    proves: 'the addon in Node under the address sanitizer',
    reads: ['native/test/', 'test/native/'],
    command: ['make', '--no-print-directory', 'node-asan'],
    needs: CLANG,
  },
  {
    name: 'fuzz',
    group: 'native',
    uses: 'build/test',
    proves: 'every parser of kernel text on generated inputs',
    reads: ['native/test/', 'test/fuzz/'],
    command: ['make', '--no-print-directory', 'fuzz'],
    closingLines: 2,
    needs: CLANG,
  },
  {
    name: 'tidy',
    group: 'native',
    uses: 'build/test',
    proves: 'clang-tidy finds nothing in the C++ code',
    reads: [],
    only: CPP,
    command: ['make', '--no-print-directory', 'tidy'],
    needs: { 'clang-tidy': 'clang-tidy' },
  },
  ...['20', '22'].map((version) => ({
    name: `windows-${version}`,
    group: 'windows',
    uses: 'wine' as const,
    proves: `all Windows tests under Wine with Node ${version}`,
    reads: ['native/test/windows/', 'test/windows/'],
    command: ['make', '--no-print-directory', 'windows', `ARGS=${version}`],
    needs: WINE,
  })),
  ...['20', '22', '24', '26'].map((version) => ({
    name: `versions-${version}`,
    group: 'versions',
    uses: 'build/node' as const,
    proves: `the native tests with the one addon on Node ${version}`,
    reads: ['test/native/', 'test/versions/'],
    command: ['make', '--no-print-directory', 'versions', `ARGS=${version}`],
  })),
  {
    name: 'arm64',
    uses: 'build/arm64',
    proves: 'the native tests with the addon for arm64, emulated',
    reads: ['test/native/', 'test/arm64/'],
    command: ['make', '--no-print-directory', 'arm64'],
    needs: ARM64,
  },
  {
    name: 'packages',
    uses: 'build/arm64',
    proves: 'the packages for npm and Debian and the image, installed or run, each with a check',
    reads: ['test/packages/', ...DOCUMENTS],
    except: FOR_CONTRIBUTORS,
    command: ['make', '--no-print-directory', 'packages'],
    needs: PACKAGES,
  },
  {
    name: 'vm-skips',
    group: 'vm',
    proves: 'no test was skipped on every machine and on this one',
    reads: ['test/'],
    except: ['test/proof/'],
    command: ['node_modules/.bin/tsx', SKIPS],
    alone: true,
  },
];
