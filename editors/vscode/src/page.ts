// What every web page of this extension has: no access to anything outside, and the colours of the editor.
import { randomBytes } from 'node:crypto';

/** With drawn, elements may have styles of their own, as drawings have. Nothing can be loaded in any case. */
export function page(body: string, script: string, { drawn = false } = {}): string {
  const nonce = randomBytes(16).toString('hex');
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${drawn ? "'unsafe-inline'" : `'nonce-${nonce}'`}; script-src 'nonce-${nonce}'">
<style nonce="${nonce}">${style}</style></head>
<body>${body}<script nonce="${nonce}">${script.replaceAll('</script', '<\\/script')}</script></body></html>`;
}

const style = `
body { color: var(--vscode-foreground); font-family: var(--vscode-font-family); font-size: var(--vscode-font-size); padding: 8px 24px 24px; max-width: 760px; }
.vscode-dark, .vscode-high-contrast:not(.vscode-high-contrast-light) { color-scheme: dark; }
body:has(table, figure) { max-width: none; }
h1 { font-size: 1.4em; font-weight: 600; margin: 12px 0 4px; }
h1 code { font-weight: 400; font-size: 0.8em; opacity: 0.8; margin-left: 6px; }
code { font-family: var(--vscode-editor-font-family); color: var(--vscode-textPreformat-foreground); }
.about, .hint { color: var(--vscode-descriptionForeground); }
.about { margin: 0 0 12px; line-height: 1.5; }
.hint { font-size: 0.92em; margin: 1px 0 4px; }
.field { margin: 14px 0; }
label { font-weight: 600; }
.needed { color: var(--vscode-errorForeground); }
.error { color: var(--vscode-errorForeground); min-height: 0; }
summary { cursor: pointer; margin-top: 14px; color: var(--vscode-textLink-foreground); }
input[type=text], input[type=number], textarea, select {
  box-sizing: border-box; width: 100%; padding: 4px 6px; border-radius: 2px; font: inherit;
  background: var(--vscode-input-background); color: var(--vscode-input-foreground);
  border: 1px solid var(--vscode-input-border, var(--vscode-dropdown-border, var(--vscode-contrastBorder, transparent)));
}
textarea { font-family: var(--vscode-editor-font-family); font-size: var(--vscode-editor-font-size); resize: vertical; }
select { width: auto; min-width: 160px; background: var(--vscode-dropdown-background); color: var(--vscode-dropdown-foreground); }
:focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: -1px; }
button { margin-top: 16px; padding: 5px 14px; border: 0; border-radius: 2px; font: inherit; cursor: pointer; background: var(--vscode-button-background); color: var(--vscode-button-foreground); }
button:hover { background: var(--vscode-button-hoverBackground); }
button:disabled { opacity: 0.6; cursor: default; }
figure { margin: 0 0 28px; } figcaption { color: var(--vscode-descriptionForeground); margin: 8px 0; }
.drawing svg { max-width: 100%; height: auto; }
pre { overflow: auto; padding: 8px; background: var(--vscode-textCodeBlock-background); }
pre code { color: inherit; background: none; padding: 0; }
figure .error { white-space: pre-wrap; font-family: var(--vscode-editor-font-family); }
table { border-collapse: collapse; width: 100%; margin-top: 12px; }
th { text-align: left; font-weight: 600; color: var(--vscode-descriptionForeground); }
th, td { padding: 5px 12px 5px 0; border-bottom: 1px solid var(--vscode-widget-border, var(--vscode-panel-border)); vertical-align: middle; }
td, th { white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
svg { display: block; }
.ok { fill: var(--vscode-charts-green); } .bad { fill: var(--vscode-charts-red); } .no { fill: var(--vscode-charts-yellow); }
.time { fill: var(--vscode-charts-blue); } .tail { fill: var(--vscode-charts-blue); opacity: 0.35; } .line { stroke: var(--vscode-charts-lines, currentColor); opacity: 0.4; }
.key { display: inline-block; width: 9px; height: 9px; border-radius: 2px; margin: 0 4px 0 14px; }
.key.ok { background: var(--vscode-charts-green); } .key.bad { background: var(--vscode-charts-red); } .key.no { background: var(--vscode-charts-yellow); } .key.time { background: var(--vscode-charts-blue); }
`;
