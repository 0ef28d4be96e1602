// The tests that need no VS Code, bundled to where node can run them.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { spawnSync } from 'node:child_process';
import * as esbuild from 'esbuild';

const here = path.join(import.meta.dirname, '..'), out = path.join(here, 'out-test');
fs.rmSync(out, { recursive: true, force: true });
const tests = fs.readdirSync(path.join(here, 'test/unit')).filter(f => f.endsWith('.test.ts'));
await esbuild.build({ entryPoints: tests.map(f => path.join(here, 'test/unit', f)), outdir: out, outExtension: { '.js': '.mjs' }, bundle: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'warning' });
process.exit(spawnSync(process.execPath, ['--test', ...tests.map(f => path.join(out, f.replace(/\.ts$/, '.mjs')))], { stdio: 'inherit' }).status ?? 1);
