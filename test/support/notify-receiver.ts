import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { eventually } from './eventually.js';

/** In Perl: Node has no AF_UNIX datagram sockets. */
const PROGRAM = `
  $| = 1;
  my $name = $ARGV[0] =~ s/^@/\\0/r;
  socket(S, AF_UNIX, SOCK_DGRAM, 0) and bind(S, pack_sockaddr_un($name)) or die "$ARGV[0]: $!";
  print "bound\\n";
  while (defined recv(S, my $state, 65536, 0)) { $state =~ s/\\n/|/g; print "$state\\n" }`;

/** Stands in for a service manager: its datagrams, with lines joined by '|'. */
export interface NotifyReceiver {
  readonly messages: readonly string[];
  /** Stops reading, so that its socket fills. Resolves when the process has stopped. */
  pause(): Promise<void>;
  resume(): void;
  close(): Promise<void>;
}

/** `address`: as in $NOTIFY_SOCKET. */
export async function receiveNotifications(address: string): Promise<NotifyReceiver> {
  const child = spawn('perl', ['-MSocket', '-e', PROGRAM, address], { stdio: ['ignore', 'pipe', 'inherit'] });
  const messages: string[] = [];
  const lines = createInterface({ input: child.stdout });
  const [first] = (await Promise.race([once(lines, 'line'), once(child, 'exit')])) as [unknown];
  if (first !== 'bound') throw new Error(`no socket at ${address}`);
  lines.on('line', (line) => messages.push(line));
  return {
    messages,
    pause: async () => {
      child.kill('SIGSTOP');
      await eventually('the receiver has stopped', async () => / T \d+ /.test(await readFile(`/proc/${String(child.pid)}/stat`, 'utf8')));
    },
    resume: () => void child.kill('SIGCONT'),
    close: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
