// Read an AsyncAPI document with AsyncAPI's own parser, then with Spectral; print the faults, and exit 1 if there is any.
//
//     NODE_PATH=FOLDER/node_modules node lint_asyncapi.cjs docs/asyncapi.json
"use strict";

const { readFileSync } = require("node:fs");
const { Parser } = require("@asyncapi/parser");
const { Spectral } = require("@stoplight/spectral-core");
const { asyncapi } = require("@stoplight/spectral-rulesets");

const IGNORED = new Set([
  "asyncapi-latest-version", // 3.1 adds nothing but bindings of ROS 2, and more tools read 3.0
  "asyncapi-info-contact", // there is no address yet,
  "asyncapi-info-license", // and no licence has been chosen
  "asyncapi-info-license-url",
]);
const MOST_PRINTED = 20; // a fault of a schema is found again in each message that refers to it
const SEVERITIES = ["error", "warning", "information", "hint"];

async function lint(text) {
  const spectral = new Spectral();
  spectral.setRuleset({ extends: [[asyncapi, "all"]] });
  const { document, diagnostics } = await new Parser().parse(text);
  const faults = [...diagnostics, ...(await spectral.run(text))].filter(({ code }) => !IGNORED.has(code));
  for (const { severity, code, path, message, range } of faults.slice(0, MOST_PRINTED)) {
    console.log(`line ${range.start.line + 1}: ${SEVERITIES[severity]} ${code}: ${message} (${path.join(".")})`);
  }
  if (faults.length > MOST_PRINTED) console.log(`... and ${faults.length - MOST_PRINTED} more`);
  return document !== undefined && faults.length === 0;
}

lint(readFileSync(process.argv[2], "utf8")).then((isClean) => process.exit(isClean ? 0 : 1));
