import type { InstallStep } from './install-step.js';

/** 'write   /etc/systemd/system/evictd.service' */
export function stepLine(step: InstallStep): string {
  const verb = step.action.padEnd(7);
  switch (step.action) {
    case 'run':
      return `${verb} ${step.command.join(' ')}`;
    case 'keep':
      return `${verb} ${step.path} (${step.why})`;
    case 'restore':
      return `${verb} ${step.path} (${step.what})`;
    case 'write':
    case 'make':
    case 'remove':
      return `${verb} ${step.path}`;
  }
}

const NO_DROP_IN = '  evictd install --logind-drop-in: the inhibit delay of logind is shorter than shutdownGracePeriod';
const TAKEN_OVER =
  '  evictd shutdown --plan: logind has not loaded its drop-in yet; if the delay stays too short, a drop-in with a later name wins';

/** What remains to be done after an installation, one command or sentence per line. */
export function installNextSteps({
  configFile,
  now,
  dryRun,
  hasNoWorkloads,
  short,
}: {
  readonly configFile: string;
  readonly now: boolean;
  readonly dryRun: boolean;
  readonly hasNoWorkloads: boolean;
  /** The inhibit delay is too short, and no drop-in was written: it exists already, or was not requested. */
  readonly short: { readonly hasDropIn: boolean } | undefined;
}): readonly string[] {
  if (dryRun) return [];
  return [
    'next:',
    ...(hasNoWorkloads ? [`  configure workloads in ${configFile}; until then evictd evicts nothing`] : []),
    ...(short ? [short.hasDropIn ? TAKEN_OVER : NO_DROP_IN] : []),
    `  evictd config check --config ${configFile}`,
    now ? '  systemctl reload evictd' : '  systemctl start evictd',
    '  systemctl status evictd; journalctl -u evictd',
  ];
}

export function stepsJson(steps: readonly InstallStep[], more: { readonly dryRun: boolean; readonly next: readonly string[] }): string {
  const { dryRun, next } = more;
  return `${JSON.stringify({ dryRun, steps, next: next.slice(1).map((line) => line.trim()) }, undefined, 2)}\n`;
}
