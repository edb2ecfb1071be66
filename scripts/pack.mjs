// Compresses the WebAssembly program: node pack.mjs FILE writes FILE.zst.
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
const { init, compress } = createRequire(import.meta.url)("@bokuweb/zstd-wasm");
await init();
const [file] = process.argv.slice(2);
// Level 19 is the highest whose window a browser's memory need not fear; 22 gains less than a kilobyte.
await writeFile(`${file}.zst`, compress(await readFile(file), 19));
