/** The deadly signals of a round, from the kernel's trace points. */
export interface SignalTrace {
  /** The thread that sent the first one to the process; KERNEL: the OOM killer; X+KERNEL: first X, then the OOM killer. */
  readonly by: string | undefined;
  /** Of the first one to the process, in µs of the monotonic clock. */
  readonly firstUs: number | undefined;
  readonly toProcess: number;
  /** All of them in order, as `sender:number>receiver`; neighbours that are the same as one, with `×` and their number. */
  readonly all: readonly string[];
}

/** `     kworker/0:1-12   [000] d..1.   12.345678: signal_generate: sig=9 errno=0 …` */
const EVENT = /^\s*(?<sender>.+)-\d+\s+\[\d+\]\s+\S+\s+(?<seconds>\d+\.\d+): (?<event>signal_generate|mark_victim): (?<text>.*)$/;
const SIGNAL = /^sig=(?<signal>\d+) .* comm=(?<receiver>.*) pid=(?<pid>\d+) grp=/;
const MARK = /^pid=(?<pid>\d+)\b/;

/** The OOM killer marks its victim beside the signal that it sends. */
const SAME_KILL_US = 100_000;

interface Sent {
  readonly us: number;
  readonly sender: string;
  readonly signal: string;
  readonly receiver: string;
  readonly pid: number;
}

/**
 * Reads the text of `/sys/kernel/tracing/trace` with the events signal_generate (filtered to SIGKILL and SIGTERM) and
 * mark_victim. Lines of other kinds are left out.
 *
 * @param pid  the process whose end is looked for
 */
export function parseSignalTrace(text: string, pid: number): SignalTrace {
  const sent: Sent[] = [];
  let markedUs: number | undefined;
  for (const line of text.split('\n')) {
    const { sender = '', seconds = '', event, text: rest = '' } = EVENT.exec(line)?.groups ?? {};
    const us = Math.round(Number(seconds) * 1e6);
    if (event === 'mark_victim' && Number(MARK.exec(rest)?.groups?.pid) === pid) markedUs ??= us;
    const { signal, receiver = '', pid: to } = SIGNAL.exec(rest)?.groups ?? {};
    if (event === 'signal_generate' && signal !== undefined)
      sent.push({ us, sender: word(sender), signal, receiver: word(receiver), pid: Number(to) });
  }
  const toProcess = sent.filter((each) => each.pid === pid);
  return { by: by(toProcess[0], markedUs), firstUs: toProcess[0]?.us, toProcess: toProcess.length, all: counted(sent) };
}

function counted(sent: readonly Sent[]): string[] {
  const runs: { readonly what: string; times: number }[] = [];
  for (const { sender, signal, receiver } of sent) {
    const what = `${sender}:${signal}>${receiver}`;
    const last = runs.at(-1);
    if (last?.what === what) last.times += 1;
    else runs.push({ what, times: 1 });
  }
  return runs.map(({ what, times }) => (times > 1 ? `${what}×${String(times)}` : what));
}

function by(first: Sent | undefined, markedUs: number | undefined): string | undefined {
  if (first === undefined) return undefined;
  if (markedUs === undefined) return first.sender;
  return markedUs - first.us < SAME_KILL_US ? 'KERNEL' : `${first.sender}+KERNEL`;
}

/** The name of a thread may have spaces. */
function word(name: string): string {
  return name.trim().replaceAll(' ', '_');
}
