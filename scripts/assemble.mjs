// Puts the finishing touches to a site: node assemble.mjs FOLDER
// - embed.html, which is index.html with one attribute more, so that the two cannot drift apart;
// - the version, a digest of all files, into every address of a script, a style sheet or an icon, and into sw.js;
// - the styles inside the page, where the first paint need not wait for another round trip; the content policy names
//   them by their digest;
// - scripts and styles without indentation and without lines that are only a comment: hosts that compress nothing send
//   them as they are;
// - a .gz beside every text, for minilb's own server and for hosts that look for one.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const [folder] = process.argv.slice(2);
const read = (name) => readFileSync(join(folder, name));
const write = (name, text) => writeFileSync(join(folder, name), text);
const left = new Set(["placeholder.html", "sw.js"]); // not kept offline: one is for unbuilt copies, one does the keeping

// squeezed is a text without what only its readers need. None of them has a line that begins inside a quotation.
const squeezed = (text) => text.replace(/^[ \t]+/gm, "").replace(/^\/\/.*\n/gm, "").replace(/^\/\*[^*]*\*\/\n/gm, "").replace(/\n+/g, "\n");
for (const name of readdirSync(folder)) {
  if (/\.(js|css)$/.test(name) && !/\.min\./.test(name)) write(name, squeezed(read(name).toString()));
}

const styles = [];
const unstyled = read("index.html").toString().replace(/<link rel="stylesheet" href="([\w.-]+)">\n/g, (_, name) => {
  styles.push(read(name).toString());
  rmSync(join(folder, name));
  return "";
});
const style = styles.join("\n"), named = `'sha256-${createHash("sha256").update(style).digest("base64")}'`;
const page = unstyled.replace("style-src 'self'", () => `style-src ${named}`).replace(/<script /, (tag) => `<style>${style}</style>\n${tag}`);
write("index.html", page);
write("embed.html", page.replace(/<html /, '<html data-view="embed" ')
  .replace(/<meta name="description"[^>]*>/, '<meta name="robots" content="noindex">'));

const names = readdirSync(folder).filter((name) => !left.has(name)).sort();
const digest = createHash("sha256");
for (const name of [...names, "sw.js"]) digest.update(name).update("\0").update(read(name));
const version = digest.digest("hex").slice(0, 12);

// The program is most of what is loaded, so it is asked for before boot.js could, behind all that the first paint needs.
const ahead = '<link rel="preload" href="minilb.wasm.zst" as="fetch" crossorigin fetchpriority="low">';
for (const name of ["index.html", "embed.html"]) {
  write(name, read(name).toString().replace("<style>", `${ahead}\n$&`)
    .replace(/(src|href)="([\w.-]+\.(?:js|css|svg|zst))"/g, `$1="$2?v=${version}"`));
}
const kept = names.filter((name) => name !== "index.html"); // which is kept as "./"
write("sw.js", read("sw.js").toString().replace('"VERSION"', JSON.stringify(version))
  .replace('["FILES"]', JSON.stringify(kept)));

for (const name of readdirSync(folder)) {
  if (/\.(js|json|css|html|svg)$/.test(name) && name !== "placeholder.html") {
    write(`${name}.gz`, gzipSync(read(name), { level: 9 }));
  }
}
