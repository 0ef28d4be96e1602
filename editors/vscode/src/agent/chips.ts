// What goes along with the next prompt of a page: files, selections, problems, pictures.
import * as vscode from 'vscode';
import type { Attachment } from './event';
import { imageType, largest } from './images';
import type { Chip } from './messages';

const t = vscode.l10n.t;

/** How much of a file or a selection goes along as text, in characters; of a file that is longer only its name does. */
const mostText = 64 << 10;

export interface Attached { chip: Chip; attachment: Attachment }

export class Chips {
  private list: Attached[] = [];
  private made = 0;

  constructor(private readonly changed: () => void) {}

  get chips(): Chip[] { return this.list.map(a => a.chip); }

  add({ kind, label, detail }: Omit<Chip, 'id'>, attachment: Attachment): void {
    const same = (a: Attached) => a.chip.kind === kind && a.attachment.uri === attachment.uri && JSON.stringify(a.attachment.range) === JSON.stringify(attachment.range) && a.attachment.data === attachment.data && a.attachment.text === attachment.text;
    if (!this.list.some(same)) {
      this.list.push({ chip: { id: `chip-${++this.made}`, kind, label, ...(detail ? { detail } : {}) }, attachment });
      this.changed();
    }
  }

  remove(id: string): void {
    this.list = this.list.filter(a => a.chip.id !== id);
    this.changed();
  }

  /** Those that go along with a prompt; they are no longer kept. */
  take(ids: string[]): Attachment[] {
    const taken = this.list.filter(a => ids.includes(a.chip.id));
    if (taken.length > 0) {
      this.list = this.list.filter(a => !taken.includes(a));
      this.changed();
    }
    return taken.map(a => a.attachment);
  }

  /** Puts back what could not be sent. */
  restore(attachments: Attachment[], before: Chip[]): void {
    attachments.forEach((a, i) => before[i] && this.add(before[i], a));
  }
}

type Made = [Omit<Chip, 'id'>, Attachment];

export const fileChip = (uri: vscode.Uri): Made => [{ kind: 'file', label: uri.path.split('/').pop() ?? '', detail: vscode.workspace.asRelativePath(uri) }, { kind: 'file', uri: uri.toString() }];

/** What is selected in the editor, or the file when nothing is. */
export function selectionChip(editor: vscode.TextEditor): Made {
  const { document, selection } = editor;
  if (selection.isEmpty) {
    return fileChip(document.uri);
  }
  const first = selection.start.line + 1, last = selection.end.line + (selection.end.character > 0 || selection.isSingleLine ? 1 : 0);
  const name = document.uri.path.split('/').pop() ?? '';
  return [
    { kind: 'range', label: first >= last ? `${name}:${first}` : `${name}:${first}-${last}`, detail: vscode.workspace.asRelativePath(document.uri) },
    { kind: 'range', uri: document.uri.toString(), range: plain(selection), text: document.getText(selection).slice(0, mostText) },
  ];
}

/** The errors and warnings of the workspace, as far as they are known. */
export function diagnosticsChip(): Made | undefined {
  const lines = vscode.languages.getDiagnostics().flatMap(([uri, list]) => uri.scheme !== 'file' ? [] : list
    .filter(d => d.severity <= vscode.DiagnosticSeverity.Warning && d.source !== 'sidecar')
    .map(d => `${vscode.workspace.asRelativePath(uri)}:${d.range.start.line + 1}:${d.range.start.character + 1}: ${d.severity === vscode.DiagnosticSeverity.Error ? 'error' : 'warning'}: ${d.message}`));
  if (lines.length === 0) {
    return undefined;
  }
  return [{ kind: 'diagnostics', label: lines.length === 1 ? t('1 problem') : t('{0} problems', lines.length), detail: lines.slice(0, 5).join('\n') }, { kind: 'diagnostics', text: lines.slice(0, 200).join('\n').slice(0, mostText) }];
}

/** A picture, if its bytes are those of one that is taken; else why not. */
export function imageChip(name: string, base64: string): Made | string {
  const data = Buffer.from(base64, 'base64'), mime = imageType(data);
  if (!mime) {
    return t('{0} is no PNG, JPEG, GIF or WebP picture.', name);
  }
  if (data.length > largest) {
    return t('{0} has {1} MB; 5 are taken.', name, Math.ceil(data.length / (1 << 20)));
  }
  return [{ kind: 'image', label: name, detail: `${mime}, ${Math.ceil(data.length / 1024)} KB` }, { kind: 'image', mime, data: data.toString('base64') }];
}

export const plain = (r: vscode.Range) => ({ start: { line: r.start.line, character: r.start.character }, end: { line: r.end.line, character: r.end.character } });
