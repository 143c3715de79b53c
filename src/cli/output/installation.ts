import type { InstallStep } from '../../install/step.js';

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

const NO_DROP_IN = '  evictd install --logind-drop-in: logind lets a shutdown wait for less time than the configuration asks for';
const TAKEN_OVER =
  '  evictd shutdown --plan: logind had not taken its drop-in over; where it still lets a shutdown wait for less time than the configuration asks for, a file with a later name wins';

/** What is left to do after an installation, a sentence or a command each. */
export function installNextSteps({
  configFile,
  now,
  dryRun,
  evictsNobody,
  short,
}: {
  readonly configFile: string;
  readonly now: boolean;
  readonly dryRun: boolean;
  readonly evictsNobody: boolean;
  /** A shutdown did not wait for as long as the configuration asks for, and nothing was written that says so to logind: it is there already, or not wanted. */
  readonly short: { readonly hasDropIn: boolean } | undefined;
}): readonly string[] {
  if (dryRun) return [];
  return [
    'next:',
    ...(evictsNobody ? [`  name your workloads in ${configFile}: until then evictd watches, exports and evicts nobody`] : []),
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
