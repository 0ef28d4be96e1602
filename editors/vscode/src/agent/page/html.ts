// The page of the Agent view. No VS Code in here.
import { randomBytes } from 'node:crypto';

/**
 * The page with its program and style in it, so that it loads nothing from anywhere. Pictures are drawn from what the page has already.
 * Nothing in the page makes markup or code of a text; the last two directives have the browser see to that.
 */
export function agentPage(script: string, style: string): string {
  const nonce = randomBytes(16).toString('hex');
  const policy = [
    "default-src 'none'", `script-src 'nonce-${nonce}'`, `style-src 'nonce-${nonce}'`, "img-src blob:", "base-uri 'none'", "form-action 'none'",
    "require-trusted-types-for 'script'", "trusted-types 'none'",
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<style nonce="${nonce}">${style.replaceAll('</style', '<\\/style')}</style></head>
<body><div id="app"></div><script nonce="${nonce}">${script.replaceAll('</script', '<\\/script')}</script></body></html>`;
}
