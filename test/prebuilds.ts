// The end of `make release`: the package has an addon for each platform that evictd promises one for, and each is for that processor. Exit code 1 where not.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** e_machine of an ELF header (elf.h: EM_X86_64, EM_AARCH64). */
const MACHINES: Readonly<Record<string, number>> = { 'linux-x64': 62, 'linux-arm64': 183 };

/** What is wrong with the addons in `prebuilds`, a sentence each. */
export function faultsOf(prebuilds: string): string[] {
  return Object.entries(MACHINES).flatMap(([platform, machine]) => {
    const file = join(prebuilds, platform, 'evictd.node');
    const found = machineOf(file);
    return found === machine
      ? []
      : [`${file}: ${found === undefined ? 'no ELF file is there' : `for machine ${String(found)}, not ${String(machine)}`}`];
  });
}

/** undefined: there is no such file, or it is none that a machine could run. */
function machineOf(file: string): number | undefined {
  try {
    const header = readFileSync(file).subarray(0, 20);
    return header.toString('latin1', 0, 4) === '\x7fELF' ? header.readUInt16LE(18) : undefined;
  } catch {
    return undefined;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const faults = faultsOf('dist/prebuilds');
  for (const fault of faults) process.stderr.write(`evictd: ${fault}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
