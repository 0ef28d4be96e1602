// Code in colours: which pieces of it have which. Pure.
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import lua from 'highlight.js/lib/languages/lua';
import makefile from 'highlight.js/lib/languages/makefile';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

for (const [name, language] of Object.entries({
  bash, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json, lua, makefile, markdown, python, ruby, rust, sql, typescript, xml, yaml,
})) {
  hljs.registerLanguage(name, language);
}
hljs.registerAliases('c', { languageName: 'cpp' });

/** So many lines are coloured at most. */
const most = 500;

export interface Coloured { text: string; look: string }

/** The pieces of a code with the classes that their colours hang on; undefined when the language is none of ours, or the code too long. */
export function coloured(code: string, language: string): Coloured[] | undefined {
  if (!language || !hljs.getLanguage(language) || code.length > 100_000 || (code.match(/\n/g)?.length ?? 0) >= most) { return undefined; }
  try {
    return pieces(hljs.highlight(code, { language, ignoreIllegals: true }).value);
  } catch {
    return undefined;
  }
}

const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#x27;': "'" };

/** What the highlighter writes, read as pieces; undefined for anything that is not spans of its classes and five entities. */
export function pieces(html: string): Coloured[] | undefined {
  const out: Coloured[] = [], looks: string[] = [];
  const token = /<span class="((?:hljs-|language-)[\w\- .]+)">|<\/span>|&(?:amp|lt|gt|quot|#x27);|[^<&]+/gy;
  while (token.lastIndex < html.length) {
    const m = token.exec(html);
    if (!m) { return undefined; }
    if (m[1] !== undefined) {
      looks.push(m[1]);
    } else if (m[0] === '</span>') {
      if (looks.pop() === undefined) { return undefined; }
    } else {
      const text = entities[m[0]] ?? m[0], look = looks.at(-1) ?? '', last = out.at(-1);
      if (last?.look === look) { last.text += text; } else { out.push({ text, look }); }
    }
  }
  return looks.length === 0 ? out : undefined;
}
