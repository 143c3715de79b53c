import { evictd } from '../evictd.js';
import { check } from '../features/check/command.js';

void evictd({ check: () => Promise.resolve(check) });
