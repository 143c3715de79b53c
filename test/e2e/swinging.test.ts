import { expect, test } from 'vitest';
import { Evictd, type JournalLine } from './evictd.js';
import { ABOVE_128_MIB, guarding, ON, testNode } from './node.js';
import { until } from './wait.js';

const SWINGS = 60;

/** Holds 112 MiB. From SIGUSR2 on it takes and frees 32 MiB `SWINGS` times, nine times a second. */
const SWINGING = `
  $| = 1;
  sub taken { my @taken; push @taken, "x" x (1 << 20) for 1 .. shift; return \\@taken }
  my $held = taken(112);
  my $go = 0;
  $SIG{USR2} = sub { $go = 1 };
  print "ready\\n";
  select(undef, undef, undef, 0.05) until $go;
  for (1 .. ${String(SWINGS)}) {
    { my $more = taken(32); select(undef, undef, undef, 0.05) }
    select(undef, undef, undef, 0.05);
  }
  print "over\\n";
  sleep while 1;`;

test(`usage that swings around thresholds writes as many records and log lines as one crossing (${ON})`, async () => {
  const node = testNode();
  // With this, free() gives every MiB back to the kernel.
  const { child, pid } = await node.child('swinging').spawn('env', ['MALLOC_MMAP_THRESHOLD_=65536', 'perl', '-e', SWINGING]);
  let said = '';
  child.stdout?.on('data', (text: Buffer) => (said += text.toString()));
  await until('the process holds its memory', () => said.includes('ready'));
  const config = {
    ...guarding(node, [{ match: {}, critical: true }]),
    evictionSoft: ABOVE_128_MIB,
    evictionSoftGracePeriod: { 'memory.available': '1h' },
    evictionHard: { 'memory.available': '383Mi' },
  };
  const evictd = await new Evictd({ config }).guarding();

  process.kill(pid, 'SIGUSR2');
  await until('the process swings no more', () => said.includes('over'));
  const ends = (): JournalLine[] => evictd.journal().filter(({ type, met }) => type === 'threshold' && met === false);
  await evictd.until('both episodes end', () => ends().length === 2);

  const journal = evictd.journal();
  // A pass may come too late for a swing on a busy machine, but most are seen.
  for (const end of ends()) expect(end.timesMet).toBeGreaterThan(SWINGS / 4);
  expect(journal.map(({ type }) => type).sort()).toEqual(['alert', 'condition', 'start', ...Array<string>(4).fill('threshold')]);
  const about = evictd.log.map(({ msg }) => msg).filter((msg) => msg.startsWith('memory.available'));
  expect(about).toHaveLength(5); // two beginnings, two ends, the alert
  expect(await evictd.metric('evictd_thresholds_met_total{eviction_signal="memory.available",kind="hard"}')).toBe(1);
  expect(await evictd.metric('evictd_alerts_total{alert="nothing-evictable",eviction_signal="memory.available"}')).toBe(1);
});
