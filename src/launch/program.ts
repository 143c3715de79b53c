import { COMMANDS } from '../cli/commands.js';
import { evictd } from '../evictd.js';

void evictd(COMMANDS);
