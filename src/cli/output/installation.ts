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

/** What is left to do after an installation, a sentence or a command each. */
export function installNextSteps({
  configFile,
  now,
  dryRun,
  evictsNobody,
}: {
  readonly configFile: string;
  readonly now: boolean;
  readonly dryRun: boolean;
  readonly evictsNobody: boolean;
}): readonly string[] {
  if (dryRun) return [];
  return [
    'next:',
    ...(evictsNobody ? [`  name your workloads in ${configFile}: until then evictd watches, exports and evicts nobody`] : []),
    `  evictd config check --config ${configFile}`,
    now ? '  systemctl reload evictd' : '  systemctl start evictd',
    '  systemctl status evictd; journalctl -u evictd',
  ];
}

export function stepsJson(steps: readonly InstallStep[], more: { readonly dryRun: boolean; readonly next: readonly string[] }): string {
  const { dryRun, next } = more;
  return `${JSON.stringify({ dryRun, steps, next: next.slice(1).map((line) => line.trim()) }, undefined, 2)}\n`;
}
