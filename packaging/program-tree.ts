import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PROGRAM_FILES } from './bundles.js';
import { nodeBinary, PACKAGED_NODE } from './node-binary.js';

/** Debian's names. */
export const ARCHITECTURES = {
  amd64: { node: 'x64', triplet: 'x86_64-linux-gnu' },
  arm64: { node: 'arm64', triplet: 'aarch64-linux-gnu' },
} as const;

export type Architecture = keyof typeof ARCHITECTURES;

/** @throws Error  the name of none */
export function architectureOf(name: string): Architecture {
  if (name in ARCHITECTURES) return name as Architecture;
  throw new Error(`--arch is ${Object.keys(ARCHITECTURES).join(' or ')}, not ${name}`);
}

/** 1572864 → '1.5 MiB' */
export const mebibytes = (bytes: number): string => `${(bytes / (1024 * 1024)).toFixed(1)} MiB`;

export const LIBRARY = '/usr/lib/evictd';
export const PROGRAM = [`${LIBRARY}/node`, `${LIBRARY}/dist/evictd.js`] as const;

/** A directory that is to be packed as the root of a system. */
export interface Tree {
  readonly write: (path: string, text: string | Uint8Array, mode?: number) => void;
  readonly copy: (from: string, path: string) => void;
}

export function treeBelow(root: string): Tree {
  const made = (path: string): string => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    return join(root, path);
  };
  return {
    write: (path, text, mode = 0o644) => {
      writeFileSync(made(path), text, { mode });
    },
    copy: (from, path) => {
      cpSync(from, made(path), { recursive: true, dereference: true });
    },
  };
}

/**
 * Node without its symbols, which are a seventh of it, and the built program.
 *
 * @param isExecutable  the program starts by itself, with its own Node
 */
export function plantProgram({ write, copy }: Tree, architecture: Architecture, isExecutable: boolean): void {
  const { node, triplet } = ARCHITECTURES[architecture];
  write(PROGRAM[0], stripped(nodeBinary(PACKAGED_NODE, node).binary, triplet), 0o755);
  write(
    PROGRAM[1],
    readFileSync('dist/evictd.js', 'utf8').replace(/^#!.*/, isExecutable ? `#!${PROGRAM[0]}` : ''),
    isExecutable ? 0o755 : 0o644,
  );
  for (const file of [...PROGRAM_FILES, 'program-code.js', 'status-page.json']) {
    copy(`dist/${file}`, `${LIBRARY}/dist/${file}`);
  }
  const addon = `dist/prebuilds/linux-${node}/evictd.node`;
  write(`${LIBRARY}/${addon}`, readFileSync(addon));
  write(`${LIBRARY}/package.json`, '{ "type": "commonjs" }\n'); // how Node loads the program
}

function stripped(binary: string, triplet: string): Uint8Array {
  execFileSync(`${triplet}-strip`, ['--strip-all', '-o', `${binary}.stripped`, binary]);
  return readFileSync(`${binary}.stripped`);
}

/** All licences, because those of what is carried require their text. */
export function copyright(architecture: Architecture): string {
  const { node } = ARCHITECTURES[architecture];
  const parts = [
    ['evictd', 'LICENSE'],
    [`Libraries in ${PROGRAM_FILES.join(', ')} and the addon`, 'dist/THIRD-PARTY-LICENSES.txt'],
    [`Node.js ${PACKAGED_NODE}, npm's node-linux-${node} without its symbols`, nodeBinary(PACKAGED_NODE, node).licence],
  ] as const;
  return parts.map(([what, file]) => `${what}\n${'='.repeat(what.length)}\n\n${readFileSync(file, 'utf8').trim()}\n`).join('\n\n');
}
