import * as vscode from 'vscode';
import type { Server } from './client';

/** A selection is made by many changes. */
const settle = 100;

/** What is sent is bounded as the server bounds it. */
const most = 100;

/** Tells the server what is selected, if it wants to know. */
export function sendSelection(server: Server): vscode.Disposable {
  let timer: NodeJS.Timeout | undefined;
  const send = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const editor = vscode.window.activeTextEditor;
      if (editor?.document.uri.scheme === 'file') {
        server.select(editor.document.uri, editor.selections.slice(0, most));
      }
    }, settle);
  };
  return vscode.Disposable.from(
    vscode.window.onDidChangeTextEditorSelection(send),
    vscode.window.onDidChangeActiveTextEditor(send),
    server.onDidChange(send),
    { dispose: () => clearTimeout(timer) },
  );
}
