// A tool: its arguments come as JSON on standard input, and what it prints is its result.
import { readFileSync } from "node:fs";

export function count(text: string): number {
  return text.split(/\s+/).filter((word) => word !== "").length;
}

if (import.meta.filename === process.argv[1]) {
  const { text } = JSON.parse(readFileSync(0, "utf8")) as { text: string };
  console.log(`${count(text)} words`);
}
