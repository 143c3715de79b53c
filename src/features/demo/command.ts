import { setTimeout as pause } from 'node:timers/promises';
import { Command } from 'commander';
import { configuredPlatform } from '../../node/configured-platform.js';
import { EvictdError, UnavailableError } from '../../errors.js';
import { DemoGuard } from './evictd-process.js';
import { Interruption, Screen } from './screen.js';
import { JobNode } from './job-node.js';
import type { DemoNode } from './demo-node.js';
import { reportText, type DemoReport, verdict } from './demo-report.js';
import { Sandbox } from './sandbox.js';
import { DemoWorkload, WORKLOADS } from './demo-workload.js';
import type { MakeCommand } from '../../cli/output/command.js';
import { outputOption, withHelp } from '../../cli/output/help.js';
import type { Io } from '../../cli/output/io.js';
import { styleFor } from '../../cli/output/style.js';
import { recordOption } from '../../cli/output/recording-options.js';
import { jsonDocument } from '../../core/name/json-text.js';

const LIMIT_BYTES = 256n << 20n;
const THRESHOLD_BYTES = 64n << 20n;
const LEAKING = 'batch';

/** An emulated or busy machine needs up to half a minute for a step. */
const STEP_WITHIN_MS = 30_000;
const READY_WITHIN_MS = 30_000;
/** Pause on a terminal before and after the eviction, for the viewer. */
const LOOK_MS = 1_200;
/** Wait after the eviction, to detect a second one. */
const SETTLE_MS = 300;
const POLL_MS = 10;

const ON_WINDOWS =
  'On Windows the workloads are job objects of at most 2 GiB. There evictd acts when the machine has 512 MiB less memory than at the start.';

export const demo: MakeCommand = ({ io, setExitCode }) => {
  const command = new Command('demo')
    .description('show one real eviction in a temporary cgroup')
    .addOption(outputOption())
    .addOption(recordOption('record the decision for evictd replay; the file is kept'));
  return withHelp(command, {
    about: [
      "Creates a 256 MiB cgroup with three workloads and makes one of them leak. Checks that evictd evicts that workload before the kernel's OOM killer acts. Touches nothing outside the cgroup.",
      ...(configuredPlatform().os === 'windows' ? [ON_WINDOWS] : []),
    ],
    examples: ['evictd demo', 'evictd demo -o json | jq .outcome.spansMs', 'evictd demo --record demo.gz && evictd replay demo.gz'],
    exit: { 0: 'every check passed', 1: 'a check failed, or the demo was interrupted', 64: 'usage error', 75: 'no cgroup can be created' },
  }).action(async ({ output, record }: { output: 'text' | 'json'; record?: string }) => {
    const interruption = new Interruption();
    const quiet: Io = { ...io, isTTY: false, stdout: () => undefined };
    try {
      const lookMs = io.isTTY && output === 'text' ? LOOK_MS : 0;
      const report = await runDemo({ screen: new Screen(output === 'json' ? quiet : io), lookMs, interruption, record });
      io.stdout(output === 'json' ? jsonDocument(report) : reportText(report, styleFor(io)));
      setExitCode(report.ok ? 0 : 1);
    } catch (error) {
      if (interruption.by === undefined || error instanceof EvictdError) throw error;
      io.stderr(`evictd demo: interrupted by ${interruption.by}; everything is removed\n`);
      setExitCode(1);
    } finally {
      interruption.dispose();
    }
  });
};

interface DemoOptions {
  readonly screen: Screen;
  readonly lookMs: number;
  readonly interruption: Interruption;
  /** Recording file; undefined: no recording. */
  readonly record: string | undefined;
}

/** Removes everything it creates, however it ends, except for the recording. */
async function runDemo(options: DemoOptions): Promise<DemoReport> {
  const { screen, interruption, record } = options;
  const node = await openNode();
  const workloads: DemoWorkload[] = [];
  const guards: DemoGuard[] = [];
  const show = async (): Promise<DemoReport> => {
    screen.line(node.introduction);
    for (const plan of WORKLOADS) workloads.push(new DemoWorkload(plan, node));
    await Promise.all(workloads.map((workload) => workload.ready(interruption.signal)));
    screen.watch(node, WORKLOADS);
    screen.line(`three workloads are running: ${workloads.map(({ plan }) => `${plan.name} (${plan.what})`).join(', ')}`);

    const guard = new DemoGuard({ node, record }, (level, message) => {
      screen.line(`evictd: ${message}`, level === 'info' ? 'dim' : 'yellow');
    });
    guards.push(guard);
    return eviction({ ...options, node, workloads, guard });
  };
  const remove = async (): Promise<void> => {
    screen.still();
    for (const guard of guards) await guard.stop();
    const left = await node.remove();
    for (const workload of workloads) workload.release();
    for (const guard of guards) guard.removeFiles();
    if (left !== undefined) throw new EvictdError('EVICTD_DEMO_LEFT', left, { hint: 'kill its processes and remove it with rmdir' });
  };
  try {
    return await show();
  } finally {
    await remove();
  }
}

/** A cgroup on Linux, job objects on Windows. */
async function openNode(): Promise<DemoNode> {
  const names = WORKLOADS.map(({ name }) => name);
  const jobs = (await import('./open.js')).openDemoJobs();
  if (jobs) return new JobNode(jobs, names);
  const memory = (await import('../../node/open-reading.js')).memoryHierarchy();
  if (memory === undefined) {
    throw new UnavailableError('EVICTD_DEMO_CGROUP', 'this machine has no cgroup memory controller', {
      hint: 'mount the cgroup filesystem and boot without cgroup_disable=memory',
    });
  }
  const plan = { name: `evictd-demo-${String(process.pid)}`, limitBytes: LIMIT_BYTES, thresholdBytes: THRESHOLD_BYTES, names };
  return Sandbox.create(memory.hierarchy, memory.own, plan);
}

interface Stage extends DemoOptions {
  readonly node: DemoNode;
  readonly workloads: readonly DemoWorkload[];
  readonly guard: DemoGuard;
}

async function eviction({ node, workloads, guard, screen, lookMs, record, interruption: { signal } }: Stage): Promise<DemoReport> {
  await until(() => guard.ready(), READY_WITHIN_MS, signal);
  const before = node.oomKills();
  await pause(lookMs, undefined, { signal });

  screen.line(`${LEAKING} starts to leak`);
  const leaking = workloads.find(({ plan }) => plan.leaks);
  leaking?.leak();
  const over = (): boolean => guard.journal().some(({ type }) => type === 'outcome') || !guard.running;
  await until(over, STEP_WITHIN_MS, signal);
  await pause(SETTLE_MS + lookMs, undefined, { signal });

  const others = workloads.filter(({ plan }) => !plan.leaks);
  const survivors = await Promise.all(
    others.map(async (workload) => ({ name: workload.plan.name, answers: await workload.answers(STEP_WITHIN_MS), end: workload.end })),
  );
  const guardEnded = guard.end;
  await guard.stop();
  const records = guard.journal();
  const facts = {
    records,
    oomKills: node.oomKillSource === undefined ? undefined : { before, after: node.oomKills() },
    leakingProcesses: node.processes(LEAKING).length,
    survivors,
    ...(record === undefined ? {} : { recording: { file: record, problem: guard.recordingProblem } }),
    guardEnd: guardEnded === undefined ? (guard.end ?? 'still running') : `ended early: ${guardEnded}`,
  };
  const leakingName = node.nameOf(LEAKING);
  const checks = verdict(facts, leakingName);
  const ofLeaking = (type: string) => records.find((record) => record.type === type && record.victim?.name === leakingName);
  return {
    ok: checks.every(({ ok }) => ok),
    node: node.described,
    decision: ofLeaking('decision'),
    outcome: ofLeaking('outcome'),
    journal: records,
    oomKills: node.oomKillSource === undefined || facts.oomKills === undefined ? null : { source: node.oomKillSource, ...facts.oomKills },
    workloads: [
      ...survivors.map(({ name, answers, end }) => ({ name, alive: answers, end })),
      { name: LEAKING, alive: leaking?.running ?? false, end: leaking?.end },
    ],
    checks,
  };
}

/** Waits until `happened` or a timeout; a check fails after a timeout. */
async function until(happened: () => boolean | Promise<boolean>, withinMs: number, signal: AbortSignal): Promise<void> {
  for (const deadline = performance.now() + withinMs; !(await happened()) && performance.now() < deadline;) {
    await pause(POLL_MS, undefined, { signal });
  }
}
