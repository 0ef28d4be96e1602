import * as vscode from 'vscode';
import type { Server } from './client';

/** Tells the server what the editor's other servers found. */
export function answerDiagnostics(server: Server): void {
  server.requests.set('sidecar/diagnostics', ({ uri }: { uri?: string }) => {
    const all: [vscode.Uri, readonly vscode.Diagnostic[]][] = uri
      ? [[vscode.Uri.parse(uri), vscode.languages.getDiagnostics(vscode.Uri.parse(uri))]]
      : vscode.languages.getDiagnostics();
    return {
      diagnostics: all
        .map(([at, list]) => ({ uri: at.toString(), found: list.filter(d => d.source !== 'sidecar') }))
        .filter(d => d.found.length > 0 && d.uri.startsWith('file:'))
        .map(d => ({ uri: d.uri, diagnostics: server.asDiagnostics(d.found) })),
    };
  });
}
