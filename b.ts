import { buildPackage } from './test/vm/package.js';
import { join } from 'node:path';
console.log(buildPackage(join('build/lab', 'evictd.deb')));
