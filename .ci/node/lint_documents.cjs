// Lint AsyncAPI and OpenAPI documents with Spectral, the former with AsyncAPI's own parser too; exit 1 if there is a fault.
//
//     NODE_PATH=FOLDER/node_modules node lint_documents.cjs docs/asyncapi.json docs/openapi.json
"use strict";

const { readFileSync } = require("node:fs");
const { Parser } = require("@asyncapi/parser");
const { Spectral } = require("@stoplight/spectral-core");
const { asyncapi, oas } = require("@stoplight/spectral-rulesets");

const IGNORED = new Set([
  "asyncapi-latest-version", // 3.1 adds nothing but bindings of ROS 2, and more tools read 3.0
  "asyncapi-info-contact", // there is no address yet,
  "asyncapi-info-license", // and no licence has been chosen
  "asyncapi-info-license-url",
  "info-contact", // the same rules for OpenAPI
  "info-license",
  "license-url",
]);
const MOST_PRINTED = 20; // a fault of a schema is found again in each message that refers to it
const SEVERITIES = ["error", "warning", "information", "hint"];

async function findFaults(text) {
  const isAsyncapi = "asyncapi" in JSON.parse(text);
  const spectral = new Spectral();
  spectral.setRuleset({ extends: [[isAsyncapi ? asyncapi : oas, "all"]] });
  const { diagnostics } = isAsyncapi ? await new Parser().parse(text) : { diagnostics: [] };
  return [...diagnostics, ...(await spectral.run(text))].filter(({ code }) => !IGNORED.has(code));
}

async function lint(file) {
  const faults = await findFaults(readFileSync(file, "utf8"));
  for (const { severity, code, path, message, range } of faults.slice(0, MOST_PRINTED)) {
    console.log(`${file}:${range.start.line + 1}: ${SEVERITIES[severity]} ${code}: ${message} (${path.join(".")})`);
  }
  if (faults.length > MOST_PRINTED) console.log(`... and ${faults.length - MOST_PRINTED} more`);
  return faults.length === 0;
}

Promise.all(process.argv.slice(2).map(lint)).then((areClean) => process.exit(areClean.every(Boolean) ? 0 : 1));
