import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Processor time of these threads of this process. */
export async function threadsPercent(names: readonly string[], forMs: number): Promise<number> {
  const tasks = readdirSync('/proc/self/task').map((task) => `/proc/self/task/${task}`);
  const threads = tasks.filter((task) => names.includes(readFileSync(`${task}/comm`, 'utf8').trimEnd()));
  if (threads.length < names.length) throw new Error(`there are no threads ${names.join(', ')}`);
  const onProcessor = (): number =>
    threads.reduce((sum, thread) => sum + Number(readFileSync(`${thread}/schedstat`, 'utf8').split(' ')[0]), 0);
  const [before, from] = [onProcessor(), process.hrtime.bigint()];
  await pause(forMs);
  return ((onProcessor() - before) / Number(process.hrtime.bigint() - from)) * 100;
}
