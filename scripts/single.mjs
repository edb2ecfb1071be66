// Makes one HTML file of a built site: node single.mjs FOLDER OUT
// It opens from a memory stick, without a server: scripts stand inside it as styles always do, the program as base64 of its
// Zstandard form, the worker as text that boot.js makes a Blob of, the other languages as what words.js would load. The
// content policy names every script and style by its digest, so nothing else can run in it.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder, out] = process.argv.slice(2);
const read = (name) => readFileSync(join(folder, name), "utf8");
const digest = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

// Inside a script element only its own end tag and a comment that opens one are special.
const inert = (name, text) => {
  if (/<\/script|<!--/i.test(text)) throw new Error(`${name} cannot stand inside a page as it is`);
  return text;
};

const scripts = [];
const part = (name, text) => `<script type="text/plain" data-part="${name}">${inert(name, text)}</script>`;
const parts = [
  part("worker.js", read("worker.js")), part("wasm_exec.js", read("wasm_exec.js")),
  ...readdirSync(folder).filter((name) => name.endsWith(".json")).map((name) => part(name, JSON.stringify(JSON.parse(read(name))))),
  part("minilb.wasm.zst", readFileSync(join(folder, "minilb.wasm.zst")).toString("base64")),
].join("\n");

const last = [];
let page = read("index.html").replace(/<script defer src="([\w.-]+)\?v=\w+"><\/script>\n?/g, (_, name) => {
  const text = inert(name, read(name));
  scripts.push(digest(text));
  last.push(`<script>${text}</script>`);
  return "";
}).replace(/<link rel="preload"[^>]*>\n/, "").replace(/<link rel="icon"[^>]*>/, () => `<link rel="icon" href="data:image/svg+xml;base64,${Buffer.from(read("icon.svg")).toString("base64")}">`);

const code = inert("qrcode.js", read("qrcode.js"));
scripts.push(digest(code));
// Scripts were deferred; here they come after everything that they look at.
const end = () => `${parts}\n<script>${code}</script>\n${last.join("\n")}\n</body>`;
const policy = `default-src 'none'; script-src 'wasm-unsafe-eval' blob: ${scripts.join(" ")}; worker-src blob:; style-src ${/style-src ([^;]*)/.exec(page)[1]}; ` +
  "img-src data: blob:; base-uri 'none'; form-action 'none'";
page = page.replace(/<\/body>/, end).replace(/(http-equiv="Content-Security-Policy" content=")[^"]*/, (_, start) => start + policy);
if (/(?:src|href)="[\w.-]+\?v=/.test(page.replace(/<script[\s\S]*?<\/script>/g, ""))) throw new Error("a part of the page is still outside of it");
writeFileSync(out, page);
console.log(`${out}: ${Buffer.byteLength(page)} bytes, one file`);
