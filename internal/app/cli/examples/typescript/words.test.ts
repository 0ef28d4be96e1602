import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

const run = (args: unknown) =>
  spawnSync(process.execPath, ["--experimental-strip-types", "--no-warnings", new URL("./words.ts", import.meta.url).pathname], {
    input: JSON.stringify(args),
    encoding: "utf8",
  });

test("counts", () => assert.equal(run({ text: "one two  three" }).stdout, "3 words\n"));
test("fails without a text", () => assert.notEqual(run({}).status, 0));
