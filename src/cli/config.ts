import { config as configurationCommand } from '../features/config/command.js';
import { importCommand } from '../features/config-import/command.js';
import { initHere } from '../features/install/profile/init-command.js';
import { configuredPlatform } from '../node/configured-platform.js';
import type { MakeCommand } from './output/command.js';

/** `evictd config`. The profiles of `init` are those of Linux. */
export const config: MakeCommand = (edge) => {
  const command = configurationCommand(edge).addCommand(importCommand({ io: edge.io, root: '' }));
  return configuredPlatform().os === 'linux' ? command.addCommand(initHere(edge.io)) : command;
};
