// Which server to start. No VS Code in here, so that it can be tested without.
import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
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
        reject(new Error(reasonOf(error, command, t)));
      } else if (name !== 'sidecar-ls' || !version) {
        reject(new Error(t('it is another program: it does not answer --version as sidecar-ls does')));
      } else {
        resolve(version);
      }
    });
  });
}

// The ways in which a program fails to start, in words. Its first bytes count more than the error: on Linux a shell is
// given what the system can't run.
function reasonOf(error: Error & { code?: unknown; killed?: boolean }, command: string, t: Translate): string {
  const built = builtFor(headOf(command)), here = `${process.platform}-${process.arch}`;
  if (built && built !== here) {
    return t('it was built for {0}, and this is {1}', built, here);
  }
  switch (error.code) {
    case 'ENOENT': return t('there is no such file');
    case 'EACCES': return t('it may not be executed');
    case 'ENOEXEC': case 'UNKNOWN': return t('it was built for another system');
  }
  return error.killed ? t('it did not answer in 20 seconds') : error.message.split('\n')[0] ?? t('it failed');
}

function headOf(file: string): Buffer {
  const head = Buffer.alloc(4096);
  try {
    const fd = fs.openSync(file, 'r');
    try {
      return head.subarray(0, fs.readSync(fd, head, 0, head.length, 0));
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    return Buffer.alloc(0);
  }
}

const machines: Record<string, Record<number, string>> = {
  linux: { 0x3e: 'x64', 0xb7: 'arm64' }, // e_machine of ELF
  darwin: { 0x01000007: 'x64', 0x0100000c: 'arm64' }, // cputype of Mach-O
  win32: { 0x8664: 'x64', 0xaa64: 'arm64' }, // Machine of PE
};

/** Which platform a program is for, by its first bytes, as VS Code names platforms; undefined if they do not say. */
export function builtFor(head: Buffer): string | undefined {
  const named = (system: string, machine: number) => machines[system]?.[machine] && `${system}-${machines[system][machine]}`;
  if (head.length < 64) {
    return undefined;
  }
  if (head.readUInt32BE(0) === 0x7f454c46) {
    return named('linux', head.readUInt16LE(18));
  }
  if (head.readUInt32LE(0) === 0xfeedfacf) {
    return named('darwin', head.readUInt32LE(4));
  }
  const pe = head.toString('latin1', 0, 2) === 'MZ' ? head.readUInt32LE(0x3c) : head.length;
  return pe + 6 <= head.length && head.toString('latin1', pe, pe + 4) === 'PE\0\0' ? named('win32', head.readUInt16LE(pe + 4)) : undefined;
}
