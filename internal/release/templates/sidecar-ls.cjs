#!/usr/bin/env node
// Starts the program of the package for this machine, with its streams and arguments.
"use strict";
const { spawn } = require("node:child_process");
const os = require("node:os");

const name = `@sidecar-ls/${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "sidecar-ls.exe" : "sidecar-ls";
let program;
try {
  program = require.resolve(`${name}/${file}`);
} catch {
  console.error(`sidecar-ls: the package ${name} is not installed. It is an optional dependency: install again without --omit=optional, or take another way from docs/install.md.`);
  process.exit(1);
}
if (process.execve && process.platform !== "win32") { // there it is, and fails
  process.execve(program, [program, ...process.argv.slice(2)]); // in the place of node
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (err) => {
  console.error(`sidecar-ls: ${err.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + os.constants.signals[signal] : code));
