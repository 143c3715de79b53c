import { execFileSync } from 'node:child_process';

const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
/** A C compiler for this processor: under qemu-user it is the host's, and its library would not be loaded. undefined: none. */
export const compiler = ['cc', 'gcc', 'clang'].find((name) => {
  try {
    return execFileSync(name, ['-dumpmachine'], { encoding: 'utf8' }).startsWith(machine);
  } catch {
    return false;
  }
});
