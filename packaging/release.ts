// make release, and so `npm pack`: builds the package's addons with the compilers that are here, and names the missing
// ones first. `npm publish` needs all. Exit code 1 where an addon is missing or is none for its processor.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { faultsOf, PROMISED } from './prebuilds.js';

interface CrossBuild {
  readonly target: string;
  readonly commands: readonly string[];
  /** Debian's. */
  readonly packages: string;
}

const CROSS: Readonly<Record<string, CrossBuild>> = {
  'linux-arm64': {
    target: 'prebuild-arm64',
    commands: ['aarch64-linux-gnu-g++', 'cmake'],
    packages: 'g++-aarch64-linux-gnu cmake',
  },
  'win32-x64': {
    target: 'prebuild-windows',
    commands: ['x86_64-w64-mingw32-g++-posix', 'cmake'],
    packages: 'g++-mingw-w64-x86-64-posix cmake',
  },
};

export interface Release {
  /** Of make. */
  readonly targets: readonly string[];
  /** Those that the package will have an addon for. */
  readonly platforms: readonly string[];
  /** A sentence for each platform that cannot be built here. */
  readonly missing: readonly string[];
}

/**
 * What can be built here. An addon of a platform whose compiler is missing is packed as it is.
 *
 * @param own  the platform of this machine, which is always built
 */
export function releaseOf(own: string, has: (command: string) => boolean, isThere: (platform: string) => boolean): Release {
  const others = Object.keys(PROMISED).filter((platform) => platform !== own);
  const built = others.flatMap((platform) => {
    const cross = CROSS[platform];
    return cross?.commands.every(has) === true ? [{ platform, target: cross.target }] : [];
  });
  const left = others.filter((platform) => !built.some((each) => each.platform === platform));
  return {
    targets: ['prebuild', ...built.map(({ target }) => target), 'bundle'],
    platforms: [own, ...built.map(({ platform }) => platform), ...left.filter(isThere)],
    missing: left.map((platform) => {
      const fate = isThere(platform) ? 'the addon that is there is packed as it is' : 'the package has no addon for it';
      const cross = CROSS[platform];
      const remedy = cross ? `install its compiler (Debian: apt-get install ${cross.packages})` : 'build it on such a machine';
      return `${platform} cannot be built here, ${fate}; ${remedy}`;
    }),
  };
}

function main(): 0 | 1 {
  const say = (line: string): void => void process.stderr.write(`evictd: ${line}\n`);
  const release = releaseOf(
    `${process.platform}-${process.arch}`,
    (command) => spawnSync('sh', ['-c', `command -v '${command}'`]).status === 0,
    (platform) => existsSync(`dist/prebuilds/${platform}/evictd.node`),
  );
  for (const sentence of release.missing) say(sentence);
  const isPublished = process.env.npm_command === 'publish';
  if (isPublished && release.platforms.length < Object.keys(PROMISED).length) {
    say('npm publish needs the addons of all platforms; `npm pack` makes a package of these');
    return 1;
  }
  say(`packing evictd for ${release.platforms.join(', ')}`);
  const { status } = spawnSync('make', ['--no-print-directory', ...release.targets], { stdio: ['ignore', 2, 2] });
  const faults = status === 0 ? faultsOf('dist/prebuilds', release.platforms) : ['the build failed'];
  for (const fault of faults) say(fault);
  return faults.length === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main();
