// Prints what a visitor downloads before the first result, and the bar: node sizes.mjs FOLDER
// What counts as the first load is read from the page itself, and from boot.js for what it asks for.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const bar = 1_300_000; // bytes, compressed
const [folder] = process.argv.slice(2);
const size = (name) => statSync(join(folder, name)).size;
const page = readFileSync(join(folder, "index.html"), "utf8");
const asked = [...page.matchAll(/(?:src|href)="([\w.-]+)\?v=/g)].map((match) => match[1]);
const first = [...new Set(["index.html", ...asked, "worker.js", "minilb.wasm.zst"])];

const line = (...cells) => console.log(`${cells[0].padEnd(22)} ${cells.slice(1).map((c) => String(c).padStart(10)).join(" ")}`);
line("first load", "bytes", "gzip");
let plain = 0, packed = 0;
for (const name of first) {
  const gz = existsSync(join(folder, `${name}.gz`)) ? size(`${name}.gz`) : size(name);
  plain += size(name);
  packed += gz;
  line(name, size(name), gz);
}
line("sum", plain, packed);
console.log(`minilb's own server sends ${packed}, a host that compresses nothing ${plain}; the bar is ${bar}`);
if (packed > bar) console.log(`OVER THE BAR by ${packed - bar} bytes`);
