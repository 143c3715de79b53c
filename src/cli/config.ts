import { config as configurationCommand } from '../features/config/command.js';
import { importCommand } from '../features/config-import/command.js';
import type { MakeCommand } from './output/command.js';

/** `evictd config`. */
export const config: MakeCommand = (edge) => configurationCommand(edge).addCommand(importCommand({ io: edge.io, root: '' }));
