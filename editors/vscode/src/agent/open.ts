// What a click in the Agent view opens: links and files. Where a link may lead is in links.ts.
import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { fileChip } from './chips';
import { resolve } from './links';
import type { Pane } from './pane';

const t = vscode.l10n.t;

const roots = () => (vscode.workspace.workspaceFolders ?? []).filter(f => f.uri.scheme === 'file').map(f => f.uri.fsPath);

/** Opens what a link leads to, if it may. */
export async function openLink(target: string): Promise<void> {
  const to = resolve(target, roots());
  if (to.kind === 'web') {
    const open = t('Open');
    if (!to.ask || await vscode.window.showWarningMessage(t('Open {0}?', to.host), { modal: true, detail: to.url }, open) === open) {
      await vscode.env.openExternal(vscode.Uri.parse(to.url, true)); // which asks about hosts that the person doesn't trust yet
    }
  } else if (to.kind === 'file') {
    await show(to.path, to.root, to.line);
  } else {
    throw new Error(t('This link leads to nothing that may be opened: {0}', readable(target)));
  }
}

/** Opens a file of the workspace. */
export async function openFile(file: string, line: number | undefined): Promise<void> {
  const to = resolve(vscode.Uri.file(path.resolve(roots()[0] ?? '/', file)).toString(), roots());
  if (to.kind !== 'file') {
    throw new Error(t('{0} is not in this workspace.', readable(file)));
  }
  await show(to.path, to.root, line || undefined);
}

async function show(file: string, root: string, line: number | undefined): Promise<void> {
  const [real, top] = await Promise.all([fs.realpath(file), fs.realpath(root)]).catch(() => { throw new Error(t('There is no file {0}.', vscode.workspace.asRelativePath(file))); });
  if (!`${real}${path.sep}`.startsWith(`${top}${path.sep}`)) {
    throw new Error(t('{0} is not in this workspace.', vscode.workspace.asRelativePath(file))); // a link that leads out of it
  }
  const uri = vscode.Uri.file(file);
  if ((await fs.stat(real)).isDirectory()) {
    await vscode.commands.executeCommand('revealInExplorer', uri);
    return;
  }
  const at = line ? new vscode.Range(line - 1, 0, line - 1, 0) : undefined;
  await vscode.window.showTextDocument(uri, { preview: true, preserveFocus: true, ...(at ? { selection: at } : {}) });
}

/** Adds files that were dropped or chosen, if they are of the workspace. */
export function attachUris(pane: Pane, uris: string[]): void {
  for (const text of uris) {
    const to = resolve(text, roots());
    if (to.kind === 'file') {
      pane.chips.add(...fileChip(vscode.Uri.file(to.path)));
    } else {
      pane.notice(t('{0} is not in this workspace.', readable(text)), true);
    }
  }
}

/** Opens the user's own settings file of the server, which alone names programs of agents. */
export async function addAgent(): Promise<void> {
  const { XDG_CONFIG_HOME, APPDATA } = process.env;
  const dir = XDG_CONFIG_HOME || { darwin: path.join(os.homedir(), 'Library/Application Support'), win32: APPDATA ?? '' }[process.platform as string] || path.join(os.homedir(), '.config');
  const file = vscode.Uri.file(path.join(dir, 'sidecar/settings.json'));
  const there = await fs.access(file.fsPath).then(() => true, () => false);
  const editor = await vscode.window.showTextDocument(there ? file : file.with({ scheme: 'untitled' }));
  if (!there) {
    await editor.insertSnippet(new vscode.SnippetString('{\n  "agents": {\n    "${1:name}": { "program": "${2:program}", "acp": [$3] }\n  }\n}\n'));
  }
}

/** A text of somebody else's, short and in plain letters, as a name. */
export const readable = (text: string) => text.replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '·').replace(/[/\\]/g, '∕').slice(0, 80) || '·';
