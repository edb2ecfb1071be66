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

  // A worker is created before the module is there, so that it has loaded its own script by then.
  const spawn = () => new Worker(new URL("worker.js", document.baseURI));
  const first = spawn();

  const compile = async () => {
    const response = await fetch("minilb.wasm");
    if (!response.ok) throw new Error(`minilb.wasm: HTTP ${response.status}`);
    try {
      return await WebAssembly.compileStreaming(response.clone());
    } catch {
      return WebAssembly.compile(await response.arrayBuffer()); // a server that gives the wrong content type
    }
  };

  const start = async () => {
    const module = await compile();
    const equip = (worker) => { worker.postMessage({ module }); return worker; };
    globalThis.minilb = { worker: equip(first), newWorker: () => equip(spawn()) };
    const go = new Go();
    await go.run(await WebAssembly.instantiate(module, go.importObject));
    throw new Error("it ended");
  };
  start().catch((error) => say(`The simulator could not start: ${error.message}. Reloading the page may help.`));
})();
