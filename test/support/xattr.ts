import { spawnSync } from 'node:child_process';

const hasSetfattr = spawnSync('setfattr', ['--version']).status === 0;
const hasPython = spawnSync('python3', ['-V']).status === 0;

/** Whether extended attributes can be set here: Node cannot. */
export const canSetXattr = hasSetfattr || hasPython;

export function setXattr(path: string, name: string, value: string): void {
  const script = `import os; os.setxattr(${JSON.stringify(path)}, ${JSON.stringify(name)}, ${JSON.stringify(value)}.encode())`;
  run(hasSetfattr ? ['setfattr', '-n', name, '-v', value, path] : ['python3', '-c', script]);
}

export function removeXattr(path: string, name: string): void {
  const script = `import os; os.removexattr(${JSON.stringify(path)}, ${JSON.stringify(name)})`;
  run(hasSetfattr ? ['setfattr', '-x', name, path] : ['python3', '-c', script]);
}

function run([command = '', ...args]: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
}
