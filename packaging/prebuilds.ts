import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Binary {
  readonly format: 'ELF' | 'PE';
  readonly machine: number;
}

/** e_machine of an ELF header (elf.h: EM_X86_64, EM_AARCH64), Machine of a PE header (IMAGE_FILE_MACHINE_AMD64). */
export const PROMISED: Readonly<Record<string, Binary>> = {
  'linux-x64': { format: 'ELF', machine: 62 },
  'linux-arm64': { format: 'ELF', machine: 183 },
  'win32-x64': { format: 'PE', machine: 0x8664 },
};

/** The cross compiler's own, which no Windows has. */
const RUNTIME = /\blib(?:stdc\+\+|gcc|winpthread)[\w-]*\.dll\b/;

/**
 * What is wrong with the addons in `prebuilds`, a sentence each: each must be there, and for that processor.
 *
 * @param platforms  left out: all that one is promised for
 */
export function faultsOf(prebuilds: string, platforms: readonly string[] = Object.keys(PROMISED)): string[] {
  const wanted = Object.entries(PROMISED).filter(([platform]) => platforms.includes(platform));
  return wanted.flatMap(([platform, { format, machine }]) => {
    const file = join(prebuilds, platform, 'evictd.node');
    const bytes = bytesOf(file);
    const found = bytes && machineOf(bytes, format);
    if (!bytes || found === undefined) return [`${file}: there is no ${format} file`];
    if (found !== machine) return [`${file}: for machine ${String(found)}, not ${String(machine)}`];
    const [runtime] = RUNTIME.exec(bytes.toString('latin1')) ?? [];
    return runtime === undefined ? [] : [`${file}: needs ${runtime}, which Windows does not have`];
  });
}

/** undefined: there is no such file. */
function bytesOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** undefined: it is none that a machine could run. */
function machineOf(bytes: Buffer, format: Binary['format']): number | undefined {
  const begins = (at: number, text: string): boolean => bytes.toString('latin1', at, at + text.length) === text;
  if (format === 'ELF') return begins(0, '\x7fELF') && bytes.length >= 20 ? bytes.readUInt16LE(18) : undefined;
  if (!begins(0, 'MZ') || bytes.length < 0x40) return undefined;
  const header = bytes.readUInt32LE(0x3c); // e_lfanew
  return begins(header, 'PE\0\0') && bytes.length >= header + 6 ? bytes.readUInt16LE(header + 4) : undefined;
}
