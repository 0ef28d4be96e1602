// Claude Code, the real program, with a model that plays a script.
import { execFileSync, spawn } from 'node:child_process';
import * as path from 'node:path';
import * as readline from 'node:readline';

const top = path.join(import.meta.dirname, '../../..');

/**
 * Starts the model. Gives the program that a server starts, the environment in which it does so, and close(), which ends the model.
 * A script is a list of answers, {tool, args} or {say}: see internal/test/playmodel.
 */
export async function playClaude(script) {
  const dir = execFileSync(path.join(top, 'internal/test/clients/testdata/setup.sh'), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
  const model = spawn('go', ['run', './internal/test/playmodel', dir, JSON.stringify(script)], { cwd: top, stdio: ['pipe', 'pipe', 'inherit'] });
  const first = await new Promise((resolve, reject) => {
    readline.createInterface({ input: model.stdout }).once('line', resolve);
    model.once('error', reject).once('exit', code => reject(new Error(`the model ended with ${code}`)));
  });
  return { ...JSON.parse(first), close: () => model.stdin.end() };
}
