// Which server to start. No VS Code in here, so that it can be tested without.
import { execFile } from 'node:child_process';
import * as path from 'node:path';
import type { Translate } from './words';

/** A place where the server may be. */
export interface Candidate { from: 'setting' | 'bundled' | 'path'; command: string }

export interface Found extends Candidate { version: string }

export interface Failed extends Candidate { error: string }

/** The places in the order in which they count. A setting is a person's word: nothing is looked for behind it. */
export function candidates(setting: string, extensionDir: string, platform: NodeJS.Platform): Candidate[] {
  if (setting) {
    return [{ from: 'setting', command: setting }];
  }
  const name = platform === 'win32' ? 'sidecar-ls.exe' : 'sidecar-ls';
  return [
    { from: 'bundled', command: path.join(extensionDir, 'server', name) },
    { from: 'path', command: name },
  ];
}

/** The first place whose program says what version of the server it is, or why none does. */
export async function find(places: Candidate[], version: (command: string) => Promise<string>): Promise<Found | Failed[]> {
  const failed: Failed[] = [];
  for (const place of places) {
    try {
      return { ...place, version: await version(place.command) };
    } catch (e) {
      failed.push({ ...place, error: e instanceof Error ? e.message : String(e) });
    }
  }
  return failed;
}

/** Runs the program with --version. */
export function askVersion(command: string, t: Translate): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, ['--version'], { timeout: 20_000, windowsHide: true }, (error, stdout) => {
      const [name, version] = stdout.trim().split(/\s+/);
      if (error) {
        reject(new Error(reasonOf(error, t)));
      } else if (name !== 'sidecar-ls' || !version) {
        reject(new Error(t('it is another program: it does not answer --version as sidecar-ls does')));
      } else {
        resolve(version);
      }
    });
  });
}

// The ways in which a program fails to start, in words.
function reasonOf(error: Error & { code?: unknown; killed?: boolean }, t: Translate): string {
  switch (error.code) {
    case 'ENOENT': return t('there is no such file');
    case 'EACCES': return t('it may not be executed');
    case 'ENOEXEC': case 'UNKNOWN': case 'EBADARCH': return t('it was built for another system');
  }
  return error.killed ? t('it did not answer in 20 seconds') : error.message.split('\n')[0] ?? t('it failed');
}
