import { Argument, Command } from 'commander';
import type { MakeCommand } from '../../cli/output/command.js';
import { withHelp } from '../../cli/output/help.js';
import { SCRIPTS } from './scripts.js';
import { shownCommands } from './shown-command.js';

/** `evictd completion`. It is loaded with all commands, which it describes. */
export const completion: MakeCommand = ({ io }) => {
  const command = new Command('completion')
    .description('print the script that completes evictd in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)));
  return withHelp(command, {
    about: ['The Debian package installs these scripts.'],
    examples: [
      'source <(evictd completion bash)   in ~/.bashrc',
      'evictd completion zsh >/usr/share/zsh/site-functions/_evictd',
      'evictd completion fish >~/.config/fish/completions/evictd.fish',
    ],
    exit: { 0: 'printed', 64: 'usage error' },
  }).action((shell: keyof typeof SCRIPTS) => {
    io.stdout(SCRIPTS[shell](shownCommands(command.parent ?? command)));
  });
};
