// Loads the WebAssembly program once, starts it here for the page and hands the compiled module to Web Workers, where
// the same program runs simulations. Everything else is decided in Go.
"use strict";
(() => {
  const say = (text) => {
    document.getElementById("verdict").textContent = text;
    document.getElementById("main").dataset.state = "failed";
  };
  if (typeof WebAssembly !== "object" || typeof Worker !== "function" || typeof Go !== "function") {
    say("This browser has no WebAssembly or no Web Workers, and the simulator needs both. " +
      "The same simulator is a command: minilb simulate --help.");
    return;
  }

  // The query of this script is the version of the whole site, and every other file is asked for by it too: a page never
  // mixes files of two builds. The single-file page has no script address and carries the parts inside.
  const version = document.currentScript.src ? new URL(document.currentScript.src).search : "";
  const carried = (name) => document.querySelector(`script[data-part="${name}"]`);

  const workerAddress = () => {
    const inside = carried("worker.js");
    return inside ? URL.createObjectURL(new Blob([carried("wasm_exec.js").textContent, "\n", inside.textContent],
      { type: "text/javascript" })) : new URL(`worker.js${version}`, document.baseURI);
  };
  // A worker is created before the module is there, so that it has loaded its own script by then.
  const address = workerAddress();
  const spawn = () => new Worker(address);
  const first = spawn();

  const packed = async () => {
    const inside = carried("minilb.wasm.zst");
    if (inside) return new Blob([Uint8Array.from(atob(inside.textContent.trim()), (c) => c.charCodeAt(0))]).stream();
    const response = await fetch(`minilb.wasm.zst${version}`);
    if (!response.ok) throw new Error(`minilb.wasm.zst: HTTP ${response.status}`);
    return response.body;
  };

  // The program travels as Zstandard and is unpacked here, while it arrives, so that it is small on every host: most
  // static ones compress no WebAssembly, and what browsers unpack themselves (gzip) is a quarter larger. A server that
  // has unpacked it already is recognised by the first bytes of WebAssembly.
  const unpack = () => {
    let unpacker = null;
    return new TransformStream({
      transform(chunk, to) {
        if (unpacker === null) {
          unpacker = chunk[0] === 0 ? { push: (bytes) => to.enqueue(bytes) }
            : new fzstd.Decompress((bytes) => { if (bytes.length) to.enqueue(bytes.slice()); });
        }
        unpacker.push(chunk);
      },
    });
  };

  const compile = async () => {
    const program = new Response((await packed()).pipeThrough(unpack()), { headers: { "Content-Type": "application/wasm" } });
    if (WebAssembly.compileStreaming) return WebAssembly.compileStreaming(program);
    return WebAssembly.compile(await program.arrayBuffer());
  };

  // The service worker keeps the site for when there is no network. It starts when the page has its first result, so
  // that it does not compete with it; where there is none (plain http, a file) nothing else changes.
  const keepOffline = () => {
    if (!("serviceWorker" in navigator) || !/^https?:$/.test(location.protocol)) return;
    navigator.serviceWorker.register("sw.js").catch(() => {});
  };

  // afterPaint calls when what has been written by now can be seen: in a task of its own after the next frame. A tab that
  // nobody sees has no frames, and must not wait for one.
  const afterPaint = (call) => {
    const { port1, port2 } = new MessageChannel();
    const late = setTimeout(() => port2.postMessage(null), 100);
    const frame = requestAnimationFrame(() => { clearTimeout(late); port2.postMessage(null); });
    port1.onmessage = () => { cancelAnimationFrame(frame); port1.close(); call(); };
  };
  const whenIdle = (call) => {
    if (globalThis.requestIdleCallback) requestIdleCallback(() => call(), { timeout: 200 });
    else setTimeout(call, 20);
  };

  const start = async () => {
    const module = await compile();
    const equip = (worker) => { worker.postMessage({ module }); return worker; };
    globalThis.minilb = { worker: equip(first), newWorker: () => equip(spawn()), version, carried, keepOffline, afterPaint, whenIdle };
    const go = new Go();
    await go.run(await WebAssembly.instantiate(module, go.importObject));
    throw new Error("it ended");
  };
  start().catch((error) => say(`The simulator could not start: ${error.message}. Reloading the page may help.`));
})();
