import { readFileSync } from 'node:fs';
import { attempt } from '../../errors.js';
import type { LaterProcess } from '../../core/decide/eviction.js';
import type { VictimSample } from '../../monitor/ports/ports.js';
import { textOfBytes } from '../../core/name/byte-text.js';

/** The maximum number of processes that are read to see whether the kernel still ends a victim. */
const FEW = 16;

/** What processes that have got SIGKILL do. */
export interface DyingProcesses {
  /** Processor time that they have used, in clock ticks of the kernel, mostly 10 ms. */
  readonly ticks: bigint;
  /** Whether one of the processes runs, or waits for a processor. */
  readonly runs: boolean;
}

/** undefined: none of the first of them could be read, or there is none. */
export function dyingProcesses(pids: readonly number[], read: (pid: number) => string | undefined = statOf): DyingProcesses | undefined {
  const found = pids.slice(0, FEW).flatMap((pid) => parseStat(read(pid) ?? '') ?? []);
  if (found.length === 0) return undefined;
  return { ticks: found.reduce((sum, { ticks }) => sum + ticks, 0n), runs: found.some(({ runs }) => runs) };
}

/** The use of the processor as a part of a sample of the victim. */
export function processorUse(pids: readonly number[]): Pick<VictimSample, 'processorTicks' | 'runs'> {
  const work = dyingProcesses(pids);
  return work === undefined ? {} : { processorTicks: work.ticks, ...(work.runs && { runs: true }) };
}

/** A tick of the kernel's user interface (USER_HZ). */
const TICK_NS = 10_000_000n;

/**
 * The first process, if all were started after a time. undefined: there is none, one was started before, or there are too
 * many to know.
 *
 * @param sinceNs  by CLOCK_BOOTTIME
 */
export function laterProcess(
  pids: readonly number[],
  sinceNs: bigint,
  read: (pid: number) => string | undefined = statOf,
): LaterProcess | undefined {
  if (pids.length > FEW) return undefined;
  const found = pids.flatMap((pid): readonly (LaterProcess & { readonly isLater: boolean })[] => {
    const text = read(pid);
    if (text === undefined) return [];
    const name = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'));
    return [{ pid, name: textOfBytes(Buffer.from(name, 'latin1')), isLater: startOf(text) >= sinceNs }];
  });
  const [first] = found;
  return first === undefined || found.some(({ isLater }) => !isLater) ? undefined : { pid: first.pid, name: first.name };
}

/** The 22nd field of proc_pid_stat(5), rounded down. */
function startOf(text: string): bigint {
  return BigInt(text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? 0) * TICK_NS;
}

/** A process now. `hasExited`: it has, with all of its threads, and its parent has not reaped it. undefined: there is none. */
export function processNow(pid: number): { readonly startTicks: bigint; readonly hasExited: boolean } | undefined {
  const text = statOf(pid);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  // The first thread is a zombie while others run.
  return { startTicks: startOf(text) / TICK_NS, hasExited: /^[ZX]$/.test(fields[0] ?? '') && Number(fields[17]) <= 1 };
}

function statOf(pid: number): string | undefined {
  return attempt(() => readFileSync(`/proc/${String(pid)}/stat`, 'latin1')); // it has ended
}

/**
 * The fields of proc_pid_stat(5) after the name, which may contain anything: the state is the first, utime and stime of all
 * threads are the 12th and 13th. A leader whose threads still exit is a zombie (Z) whose ticks grow.
 */
function parseStat(text: string): DyingProcesses | undefined {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, user, system] = [fields[0], fields[11], fields[12]];
  if (state === undefined || user === undefined || system === undefined) return undefined;
  return { ticks: BigInt(user) + BigInt(system), runs: state === 'R' };
}
